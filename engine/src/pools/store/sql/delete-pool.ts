import type { Queryable } from '../../../store/index.js';

/** Removes a locked pool and who belongs to it from it; the recipients stay, without it as their primary pool. */
export async function deletePool(tx: Queryable, tenantId: string, poolId: string): Promise<void> {
  await tx.query(
    `with left_behind as (
        delete from ductor.membership where tenant_id = $1::uuid and pool_id = $2::uuid returning recipient_id),
      freed as (
        update ductor.recipient r
          set pool_id = null, record_version = r.record_version + 1, updated_at = ductor.now_us()
          from left_behind l
          where r.tenant_id = $1::uuid and r.recipient_id = l.recipient_id and r.pool_id = $2::uuid)
      delete from ductor.pool where tenant_id = $1::uuid and pool_id = $2::uuid`,
    [tenantId, poolId],
  );
}
