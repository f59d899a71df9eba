/**
 * Ends what is left of families that came to their end outside of the gate lane: a run that selects nothing and stands
 * below nobody who does knows nothing of the seat that one of its children took. No family begins again, so that what
 * one snapshot finds over is over for ever, and needs no lock.
 */
import { forgetFamilies } from '../../capacity/index.js';
import { releaseFreeOwners } from '../../routing/index.js';
import { prepared, type Queryable, type Row } from '../../store/index.js';
import { familyRunsSql } from './read-families.js';

/** Families that one look ends at most. */
const BATCH = 1_000;

const LEFT = prepared(
  'capacity_families_left',
  `with recursive f as materialized (
  select c.tenant_id, c.root_id from ductor.capacity_family c
  join ductor.runs r on r.tenant_id = c.tenant_id and r.run_id = c.root_id and r.closed_at is not null
  union
  select b.tenant_id, b.owner::uuid from ductor.routing_binding b
  where b.expires_at = ${Number.MAX_SAFE_INTEGER} and b.owner is not null
), ${familyRunsSql()}
select f.tenant_id, f.root_id from f
where not exists (select 1 from up where up.tenant_id = f.tenant_id and up.root_id = f.root_id)
and not exists (select 1 from ductor.capacity_reservation v
  where v.tenant_id = f.tenant_id and v.root_id = f.root_id)
order by f.tenant_id, f.root_id limit ${BATCH}`,
);

/**
 * Ends seats, tiers and rows of families in which nobody is open and for which nothing is held.
 *
 * @returns how many seats and tiers that were
 */
export async function endLeftFamilies(db: Queryable): Promise<number> {
  const { rows } = await db.query<Row & { tenant_id: string; root_id: string }>(LEFT, []);
  const families = rows.map((row) => ({ tenantId: row.tenant_id, rootId: row.root_id }));
  const ended = await releaseFreeOwners(
    db,
    families.map(({ tenantId, rootId: owner }) => ({ tenantId, owner })),
  );
  await forgetFamilies(db, families);
  return ended;
}
