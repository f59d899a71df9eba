/**
 * The API keys of tenants: made, listed, revoked.
 *
 * Invariants:
 * 1. The secret of a key leaves this file once, in the answer that made it.
 * 2. At most MAX_LIVE_KEYS live keys of a tenant have one name.
 * 3. What a key did stands in the audit trail when, and only when, it happened: both are one transaction.
 */
import { DuctorError, type PurposeKeys, type Random } from '../kernel/index.js';
import type { Queryable, TenantAccess } from '../store/index.js';
import { newApiKey } from './api-key.js';
import { insertAudit, type Deed } from './audit/index.js';
import { hashKey } from './key-lookup.js';
import { OPERATOR_SCOPE, type Scope } from './permissions.js';
import type { Principal } from './principal.js';
import { countLiveKeys } from './sql/count-live-keys.js';
import { insertKey } from './sql/insert-key.js';
import type { KeyRecord } from './sql/key-record.js';
import { listKeys } from './sql/list-keys.js';
import { revokeKeyRow } from './sql/revoke-key.js';

/** A key to make. */
export interface NewKey {
  readonly tenantId: string;
  /** For people; at most 128 characters. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** From now, ms; default: never expires. */
  readonly expiresInMs?: number;
}

/** A key just made. `apiKey` is shown here once and kept nowhere. */
export interface CreatedKey {
  readonly keyId: string;
  readonly apiKey: string;
  readonly record: KeyRecord;
}

/** The keys of tenants. `by`: whose deed it is; null where no caller asked, then nothing stands in the trail. */
export interface Keys {
  /** Throws not_found (no such tenant), invalid_argument, key_limit_reached. */
  createKey(key: NewKey, by?: Deed | null): Promise<CreatedKey>;
  /** Newest first, those before an id (null: from the newest), at most `limit`. */
  listKeys(tenantId: string, beforeId: string | null, limit: number): Promise<readonly KeyRecord[]>;
  /** Ends a key: here at once, on every node within KEY_TTL_MS. Throws not_found. */
  revokeKey(tenantId: string, keyId: string, by?: Deed | null): Promise<KeyRecord>;
}

/** Live keys that may have one name: the one in use and the one that will replace it. */
export const MAX_LIVE_KEYS = 2;
const MAX_NAME = 128;

function checkNewKey({ name, scopes, expiresInMs }: NewKey): void {
  if (name === '' || name.length > MAX_NAME) {
    throw new DuctorError('invalid_argument', `a key's name has 1 to ${MAX_NAME} characters, not ${name.length}`);
  }
  if (scopes.length === 0) throw new DuctorError('invalid_argument', 'a key without a scope can do nothing');
  if (expiresInMs !== undefined && !(expiresInMs > 0 && Number.isFinite(expiresInMs))) {
    throw new DuctorError('invalid_argument', `a key expires after a positive time, not ${expiresInMs} ms`);
  }
}

/**
 * Throws permission_denied unless the caller's key has every one of the scopes: nobody hands on what they have not.
 *
 * @param isForOtherTenant whether the new key is another tenant's: no right to make tenants goes there
 */
export function checkGrant({ scopes: own }: Principal, scopes: readonly Scope[], isForOtherTenant = false): void {
  const lacking = scopes.filter((scope) => !own.has(scope) || (isForOtherTenant && scope === OPERATOR_SCOPE));
  if (lacking.length === 0) return;
  throw new DuctorError('permission_denied', `the key cannot grant ${lacking.join(', ')}`, {
    remedy: 'Grant only scopes that the key in use has itself.',
  });
}

/** What making keys needs. */
export interface KeysOptions {
  readonly db: TenantAccess;
  readonly random: Random;
  /** Keys of the purpose API_KEY_PURPOSE. */
  readonly hashKeys: PurposeKeys;
  readonly newId: () => string;
  /** Told of each key that was revoked. */
  readonly onRevoked: (keyId: string) => void;
}

/** Stores a key inside a transaction of its tenant, or of the engine. */
export async function storeKey(
  tx: Queryable,
  { hashKeys, newId }: Pick<KeysOptions, 'hashKeys' | 'newId'>,
  key: NewKey,
  apiKey: string,
): Promise<CreatedKey> {
  checkNewKey(key);
  if ((await countLiveKeys(tx, key.tenantId, key.name)) >= MAX_LIVE_KEYS) {
    throw new DuctorError('key_limit_reached', `${MAX_LIVE_KEYS} live keys have the name ${JSON.stringify(key.name)}`);
  }
  const keyId = newId();
  const row = {
    ...key,
    keyId,
    keyHash: hashKey(hashKeys, apiKey).hashes[0],
    scopes: [...new Set(key.scopes)].sort(),
    expiresInMs: key.expiresInMs ?? null,
  };
  const record = await insertKey(tx, row);
  if (record === undefined) throw new DuctorError('not_found', `there is no tenant ${key.tenantId}`);
  return { keyId, apiKey, record };
}

/** Writes that the key was made or revoked. */
async function auditKey(tx: Queryable, by: Deed | null, tenantId: string, objectId: string): Promise<void> {
  if (by !== null) await insertAudit(tx, [{ ...by, tenantId, objectKind: 'api_key', objectId, outcome: 'ok' }]);
}

/** The keys in this database. */
export function createKeys(options: KeysOptions): Keys {
  const { db, random } = options;
  return {
    createKey: (key, by = null) =>
      db.asTenant(key.tenantId).transaction(async (tx) => {
        const created = await storeKey(tx, options, key, newApiKey(random));
        await auditKey(tx, by, key.tenantId, created.keyId);
        return created;
      }),
    listKeys: (tenantId, beforeId, limit) => listKeys(db.asTenant(tenantId), tenantId, beforeId, limit),
    async revokeKey(tenantId, keyId, by = null) {
      const revoked = await db.asTenant(tenantId).transaction(async (tx) => {
        const record = await revokeKeyRow(tx, tenantId, keyId);
        if (record === undefined) throw new DuctorError('not_found', `there is no key ${keyId}`);
        await auditKey(tx, by, tenantId, keyId);
        return record;
      });
      options.onRevoked(keyId);
      return revoked;
    },
  };
}
