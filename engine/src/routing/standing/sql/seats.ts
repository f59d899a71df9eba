/**
 * Seats and tiers of owners, and seats that are tried. Whoever deletes bindings locks them first, in everybody's order:
 * by tenant, pool and key, as they are written in known-keys.ts. So of two that meet, one waits for the other and
 * neither for ever.
 */
import { integerArray, prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { Probe } from '../../core/candidate.js';

const PROBE = prepared(
  'routing_write_probes',
  `update ductor.recipient_fact f set probe_until = n.until
    from unnest($2::uuid[], $3::bigint[]) as n (recipient_id, until)
    where f.tenant_id = $1::uuid and f.recipient_id = n.recipient_id`,
);
const EVICT = prepared(
  'routing_evict_seat',
  `with l as materialized (
      select x.pool_id, x.affinity_key from ductor.routing_binding x
        where x.tenant_id = $1::uuid and x.recipient_id = $2::uuid and x.owner is not null and x.tier is null
        order by x.pool_id, x.affinity_key for update)
    delete from ductor.routing_binding b using l
      where b.tenant_id = $1::uuid and b.pool_id = l.pool_id and b.affinity_key = l.affinity_key`,
);
const RELEASE = prepared(
  'routing_release_owners',
  `with l as materialized (
      select x.tenant_id, x.pool_id, x.affinity_key from ductor.routing_binding x
        join unnest($1::uuid[], $2::text[]) as n (tenant_id, owner) on x.tenant_id = n.tenant_id and x.owner = n.owner
        order by x.tenant_id, x.pool_id, x.affinity_key for update of x)
    delete from ductor.routing_binding b using l
      where b.tenant_id = l.tenant_id and b.pool_id = l.pool_id and b.affinity_key = l.affinity_key`,
);
const RELEASE_FREE = prepared(
  'routing_release_free_owners',
  `delete from ductor.routing_binding b using (
      select x.tenant_id, x.pool_id, x.affinity_key from ductor.routing_binding x
        join unnest($1::uuid[], $2::text[]) as n (tenant_id, owner) on x.tenant_id = n.tenant_id and x.owner = n.owner
        for update of x skip locked) l
    where b.tenant_id = l.tenant_id and b.pool_id = l.pool_id and b.affinity_key = l.affinity_key`,
);

/** Notes that seats are tried, and until when. Their accounts must be locked. */
export async function writeProbes(tx: Queryable, tenantId: string, probes: readonly Probe[]): Promise<void> {
  if (probes.length === 0) return;
  const untils = integerArray(probes.map(({ untilUs }) => untilUs));
  await tx.query(PROBE, [tenantId, uuidArray(probes.map(({ recipientId }) => recipientId)), untils]);
}

/** Takes a seat from everybody who is bound to it. Its account must be locked, or somebody may be bound meanwhile. */
export async function evictSeat(tx: Queryable, tenantId: string, recipientId: string): Promise<void> {
  await tx.query(EVICT, [tenantId, recipientId]);
}

/** An owner of seats and tiers, in any pool of its tenant. */
export interface SeatOwner {
  readonly tenantId: string;
  readonly owner: string;
}

/** Ends all seats and tiers of owners; returns how many bindings that were. */
export async function releaseOwners(tx: Queryable, owners: readonly SeatOwner[]): Promise<number> {
  if (owners.length === 0) return 0;
  const tenants = uuidArray(owners.map(({ tenantId }) => tenantId));
  return (await tx.query(RELEASE, [tenants, owners.map(({ owner }) => owner)])).rowCount;
}

/** The same for whom nobody waits: what somebody else has locked is left alone, so that this locks nobody out. */
export async function releaseFreeOwners(db: Queryable, owners: readonly SeatOwner[]): Promise<number> {
  if (owners.length === 0) return 0;
  const tenants = uuidArray(owners.map(({ tenantId }) => tenantId));
  return (await db.query(RELEASE_FREE, [tenants, owners.map(({ owner }) => owner)])).rowCount;
}
