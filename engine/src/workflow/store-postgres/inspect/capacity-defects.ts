/**
 * What must never be: reservations and seats that nobody who is open stands behind, and accounts that say something
 * else than the reservations of their recipients. One snapshot each, so that nothing is told that is only under way.
 */
import { prepared, type Queryable, type Row } from '../../../store/index.js';
import { familyRunsSql } from '../read-families.js';

/** A defect. */
export type CapacityDefect =
  /** Held although the chain and everybody below it have ended. */
  | { readonly kind: 'not_released'; readonly tenantId: string; readonly recipientId: string; readonly runId: string }
  /** Bound to a seat or tier that its family ends, although nobody of the family has been open for minutes. */
  | { readonly kind: 'seat_left'; readonly tenantId: string; readonly recipientId: string; readonly runId: string }
  /** The account says that so many units are held, and reservations say another number. */
  | {
      readonly kind: 'drift';
      readonly tenantId: string;
      readonly recipientId: string;
      readonly says: number;
      readonly reserved: number;
    };

const MOST = 100;

const NOT_RELEASED = prepared(
  'capacity_not_released',
  `with recursive f as materialized (
  select distinct v.tenant_id, v.root_id from ductor.capacity_reservation v
), ${familyRunsSql()}
select v.tenant_id, v.recipient_id, v.run_id from ductor.capacity_reservation v
where not exists (select 1 from up where up.tenant_id = v.tenant_id and up.chain_id = v.chain_id)
order by v.admitted_at limit ${MOST}`,
);
/** Bindings that only their family ends have no other end; after one outside of the gate lane they have minutes. */
const SEATS_LEFT = prepared(
  'capacity_seats_left',
  `with recursive b as materialized (
  select b.tenant_id, b.recipient_id, b.affinity_key, b.owner::uuid as root_id from ductor.routing_binding b
  where b.expires_at = ${Number.MAX_SAFE_INTEGER} and b.owner is not null
), f as materialized (select distinct b.tenant_id, b.root_id from b), ${familyRunsSql()}
select b.tenant_id, b.recipient_id, b.root_id as run_id from b
where not exists (select 1 from up where up.tenant_id = b.tenant_id and up.root_id = b.root_id)
and not exists (select 1 from ductor.runs r
  where r.tenant_id = b.tenant_id and r.run_id = b.root_id and r.closed_at > ductor.now_us() - 300000000)
order by b.tenant_id, b.root_id, b.affinity_key limit ${MOST}`,
);
const DRIFT = prepared(
  'capacity_drift',
  `select a.tenant_id, a.recipient_id, a.held as says, coalesce(s.units, 0)::int as reserved
    from ductor.capacity_authority a
    left join (select v.tenant_id, v.recipient_id, sum(v.units) as units from ductor.capacity_reservation v
      group by v.tenant_id, v.recipient_id) s on s.tenant_id = a.tenant_id and s.recipient_id = a.recipient_id
    where a.held <> coalesce(s.units, 0) order by a.tenant_id, a.recipient_id limit ${MOST}`,
);

interface DefectRow extends Row {
  readonly tenant_id: string;
  readonly recipient_id: string;
}

/** The first defects of each kind; empty: all is as it must be. */
export async function findCapacityDefects(db: Queryable): Promise<readonly CapacityDefect[]> {
  const left = await db.query<DefectRow & { run_id: string }>(NOT_RELEASED, []);
  const seats = await db.query<DefectRow & { run_id: string }>(SEATS_LEFT, []);
  const drifted = await db.query<DefectRow & { says: number; reserved: number }>(DRIFT, []);
  return [
    ...left.rows.map((row): CapacityDefect => {
      return { kind: 'not_released', tenantId: row.tenant_id, recipientId: row.recipient_id, runId: row.run_id };
    }),
    ...seats.rows.map((row): CapacityDefect => {
      return { kind: 'seat_left', tenantId: row.tenant_id, recipientId: row.recipient_id, runId: row.run_id };
    }),
    ...drifted.rows.map((row): CapacityDefect => {
      const { says, reserved } = row;
      return { kind: 'drift', tenantId: row.tenant_id, recipientId: row.recipient_id, says, reserved };
    }),
  ];
}
