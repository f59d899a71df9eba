import { integerArray, prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { HeldSlate, Reservation } from '../reservation.js';

const INSERT = prepared(
  'capacity_insert_reservations',
  `insert into ductor.capacity_reservation (admitted_at, tenant_id, root_id, chain_id, recipient_id, run_id, pool_id,
      day, place, units, pinned, digest, path)
    select n.admitted_at, n.tenant_id, n.root_id, n.chain_id, n.recipient_id, n.run_id, n.pool_id, n.day, n.place,
      n.units, n.pinned, decode(n.digest, 'hex'), n.path
    from unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::uuid[], $8::integer[],
      $9::integer[], $10::integer[], $11::integer[], $12::text[], $13::text[])
      as n (admitted_at, tenant_id, root_id, chain_id, recipient_id, run_id, pool_id, day, place, units, pinned, digest,
        path)`,
);
const DELETE = prepared(
  'capacity_delete_reservations',
  `delete from ductor.capacity_reservation v
    using unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) as t (tenant_id, root_id, chain_id, digest)
    where v.tenant_id = t.tenant_id and v.root_id = t.root_id and v.chain_id = t.chain_id
      and v.digest = decode(t.digest, 'hex')`,
);

/** Stores what families hold from now on. The families and the accounts of the recipients must be locked. */
export async function insertReservations(tx: Queryable, added: readonly Reservation[]): Promise<void> {
  if (added.length === 0) return;
  const ids = (idOf: (each: Reservation) => string): string => uuidArray(added.map(idOf));
  const numbers = (valueOf: (each: Reservation) => number): string => integerArray(added.map(valueOf));
  await tx.query(INSERT, [
    numbers(({ admittedAtUs }) => admittedAtUs),
    ids(({ tenantId }) => tenantId),
    ids(({ rootId }) => rootId),
    ids(({ chainId }) => chainId),
    ids(({ recipientId }) => recipientId),
    ids(({ runId }) => runId),
    ids(({ poolId }) => poolId),
    numbers(({ day }) => day),
    numbers(({ place }) => place),
    numbers(({ units }) => units),
    numbers(({ pinned }) => pinned),
    added.map(({ digest }) => digest),
    added.map(({ path }) => path),
  ]);
}

/** Takes slates away, each whole. The families and the accounts of the recipients must be locked. */
export async function deleteReservations(tx: Queryable, slates: readonly HeldSlate[]): Promise<void> {
  if (slates.length === 0) return;
  const unique = [...new Map(slates.map((each) => [`${each.rootId} ${each.chainId} ${each.digest}`, each])).values()];
  await tx.query(DELETE, [
    uuidArray(unique.map(({ tenantId }) => tenantId)),
    uuidArray(unique.map(({ rootId }) => rootId)),
    uuidArray(unique.map(({ chainId }) => chainId)),
    unique.map(({ digest }) => digest),
  ]);
}
