import type { Queryable } from '../../store/index.js';
import { KEY_COLUMNS, toKeyRecord, type KeyRecord, type KeyRecordRow } from './key-record.js';

/** Revokes a key of a tenant; an earlier revocation keeps its time. undefined: the tenant has no such key. */
export async function revokeKeyRow(db: Queryable, tenantId: string, keyId: string): Promise<KeyRecord | undefined> {
  const { rows } = await db.query<KeyRecordRow>(
    `update ductor.api_keys set revoked_at = coalesce(revoked_at, ductor.ductor_now())
      where tenant_id = $1::uuid and key_id = $2::uuid returning ${KEY_COLUMNS}`,
    [tenantId, keyId],
  );
  return rows[0] && toKeyRecord(rows[0]);
}

/** Revokes the live keys of a name but the newest ones, of which so many stay. */
export async function revokeOlderKeys(db: Queryable, tenantId: string, name: string, kept: number): Promise<void> {
  await db.query(
    `update ductor.api_keys set revoked_at = ductor.ductor_now()
      where tenant_id = $1::uuid and key_id in (
        select key_id from ductor.api_keys
        where tenant_id = $1::uuid and name = $2 and revoked_at is null
          and (expires_at is null or expires_at > ductor.ductor_now())
        order by created_at desc, key_id desc offset $3)`,
    [tenantId, name, kept],
  );
}
