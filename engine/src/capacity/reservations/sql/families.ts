import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import { familyName, type Family } from '../reservation.js';

const ENSURE = prepared(
  'capacity_ensure_families',
  `insert into ductor.capacity_family (tenant_id, root_id)
    select t.tenant_id, t.root_id from unnest($1::uuid[], $2::uuid[]) as t (tenant_id, root_id)
    order by 1, 2 on conflict do nothing`,
);
const LOCK = prepared(
  'capacity_lock_families',
  `select count(*)::int as locked from (
    select 1 from ductor.capacity_family f
    join unnest($1::uuid[], $2::uuid[]) as t (tenant_id, root_id)
      on f.tenant_id = t.tenant_id and f.root_id = t.root_id
    order by f.tenant_id, f.root_id for update of f) l`,
);
const FORGET = prepared(
  'capacity_forget_families',
  `delete from ductor.capacity_family f using unnest($1::uuid[], $2::uuid[]) as t (tenant_id, root_id)
    where f.tenant_id = t.tenant_id and f.root_id = t.root_id`,
);

function columns(families: readonly Family[]): [string, string] {
  return [uuidArray(families.map(({ tenantId }) => tenantId)), uuidArray(families.map(({ rootId }) => rootId))];
}

/** Families in the order in which they are locked, each once. */
export function familiesInOrder(families: readonly Family[]): readonly Family[] {
  const byName = new Map(families.map((family) => [familyName(family), family]));
  return [...byName.keys()].sort().flatMap((name) => byName.get(name) ?? []);
}

/** Makes sure that families have rows to lock. Not in a transaction that holds locks. */
export async function ensureFamilies(db: Queryable, families: readonly Family[]): Promise<void> {
  if (families.length > 0) await db.query(ENSURE, columns(families));
}

/**
 * Locks families until the transaction ends.
 *
 * @param families in order, each once
 * @returns false when one of them has no row (any more): it ended meanwhile
 */
export async function lockFamilies(tx: Queryable, families: readonly Family[]): Promise<boolean> {
  if (families.length === 0) return true;
  const { rows } = await tx.query<Row & { locked: number }>(LOCK, columns(families));
  return rows[0]?.locked === families.length;
}

/** Forgets locked families in which nobody is open any more. */
export async function forgetFamilies(tx: Queryable, families: readonly Family[]): Promise<void> {
  if (families.length > 0) await tx.query(FORGET, columns(families));
}
