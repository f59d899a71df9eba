import { uuidArray, type Queryable } from '../../../store/index.js';

/** Removes locked pools and who belongs to them from them; recipients stay, without them as their primary pools. */
export async function deletePools(tx: Queryable, tenantId: string, poolIds: readonly string[]): Promise<void> {
  if (poolIds.length === 0) return;
  await tx.query(
    `with left_behind as (
        delete from ductor.membership where tenant_id = $1::uuid and pool_id = any($2::uuid[])
          returning recipient_id, pool_id),
      freed as (
        update ductor.recipient r
          set pool_id = null, record_version = r.record_version + 1, updated_at = ductor.now_us()
          from left_behind l
          where r.tenant_id = $1::uuid and r.recipient_id = l.recipient_id and r.pool_id = l.pool_id)
      delete from ductor.pool where tenant_id = $1::uuid and pool_id = any($2::uuid[])`,
    [tenantId, uuidArray(poolIds)],
  );
}
