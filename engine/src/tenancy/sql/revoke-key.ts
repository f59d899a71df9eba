import type { Queryable } from '../../store/index.js';

/** Revokes a key of a tenant; an earlier revocation keeps its time. False: the tenant has no such key. */
export async function revokeKeyRow(db: Queryable, tenantId: string, keyId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update ductor.api_keys set revoked_at = coalesce(revoked_at, ductor.ductor_now())
      where tenant_id = $1::uuid and key_id = $2::uuid`,
    [tenantId, keyId],
  );
  return rowCount === 1;
}
