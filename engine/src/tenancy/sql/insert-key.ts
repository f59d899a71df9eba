import type { Queryable } from '../../store/index.js';
import type { Scope } from '../permissions.js';
import { KEY_COLUMNS, toKeyRecord, type KeyRecord, type KeyRecordRow } from './key-record.js';

/** A key to store. */
export interface KeyToInsert {
  readonly tenantId: string;
  readonly keyId: string;
  readonly name: string;
  readonly keyHash: Buffer;
  readonly scopes: readonly Scope[];
  /** From now by the database's clock; null: never. */
  readonly expiresInMs: number | null;
}

/** Stores a key of a tenant that exists; undefined: there is no such tenant. */
export async function insertKey(db: Queryable, key: KeyToInsert): Promise<KeyRecord | undefined> {
  const { rows } = await db.query<KeyRecordRow>(
    `insert into ductor.api_keys (tenant_id, key_id, name, key_hash, scopes, expires_at)
      select tenant_id, $2::uuid, $3, $4, $5, ductor.ductor_now() + $6::double precision * interval '1 millisecond'
        from ductor.tenants where tenant_id = $1::uuid
      returning ${KEY_COLUMNS}`,
    [key.tenantId, key.keyId, key.name, key.keyHash, key.scopes, key.expiresInMs],
  );
  return rows[0] && toKeyRecord(rows[0]);
}
