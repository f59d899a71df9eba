/** The room's one object: tenants, their keys, and who calls. */
import { DuctorError, uuidV7, type Clock, type ClusterSecret, type Random } from '../kernel/index.js';
import type { Database } from '../store/index.js';
import { isWellFormedKey, newApiKey } from './api-key.js';
import { API_KEY_PURPOSE, createAuthenticator, type Authenticator } from './authenticate.js';
import { hashKey } from './key-lookup.js';
import { SCOPES, type Scope } from './permissions.js';
import { ensureTenant } from './sql/ensure-tenant.js';
import { findKeys } from './sql/find-keys.js';
import { insertKey } from './sql/insert-key.js';
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
}

/** Tenants and keys. */
export interface Tenancy extends Pick<Authenticator, 'authenticate'> {
  /** Makes a tenant, or finds the one with this slug. Returns its id. */
  ensureTenant(slug: string): Promise<string>;
  /** Makes a key. Throws not_found (no such tenant), invalid_argument. */
  createKey(key: NewKey): Promise<CreatedKey>;
  /** Ends a key: here at once, on every node within KEY_TTL_MS. Throws not_found. */
  revokeKey(tenantId: string, keyId: string): Promise<void>;
  /**
   * The tenant of a development engine with a key for everything.
   *
   * @param keptKey the key the caller kept from last time; null at the first start
   *
   * Returns the key to keep: the same one as long as it is well formed and not revoked, also when the database is new.
   */
  ensureDevelopmentTenant(keptKey: string | null): Promise<{ readonly tenantId: string; readonly apiKey: string }>;
}

/** Parts of the room. */
export interface TenancyOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly secret: ClusterSecret;
  /** Told of faults that no caller sees; default: nobody. */
  readonly onError?: (error: unknown) => void;
}

const MAX_NAME = 128;
const DEVELOPMENT = 'development';

function checkNewKey({ name, scopes, expiresInMs }: NewKey): void {
  if (name === '' || name.length > MAX_NAME) {
    throw new DuctorError('invalid_argument', `a key's name has 1 to ${MAX_NAME} characters, not ${name.length}`);
  }
  if (scopes.length === 0) throw new DuctorError('invalid_argument', 'a key without a scope can do nothing');
  if (expiresInMs !== undefined && !(expiresInMs > 0 && Number.isFinite(expiresInMs))) {
    throw new DuctorError('invalid_argument', `a key expires after a positive time, not ${expiresInMs} ms`);
  }
}

/** Tenants and keys in this database. */
export function createTenancy({ db, clock, random, secret, onError }: TenancyOptions): Tenancy {
  const keys = secret.keysFor(API_KEY_PURPOSE);
  const authenticator = createAuthenticator({ db, clock, keys, ...(onError === undefined ? {} : { onError }) });
  const newId = (): string => uuidV7(clock.nowUs(), random);

  const store = async (key: NewKey, apiKey: string): Promise<CreatedKey> => {
    checkNewKey(key);
    const keyId = newId();
    const { hashes } = hashKey(keys, apiKey);
    const row = {
      ...key,
      keyId,
      keyHash: hashes[0],
      scopes: [...new Set(key.scopes)],
      expiresInMs: key.expiresInMs ?? null,
    };
    if (!(await insertKey(db, row))) throw new DuctorError('not_found', `there is no tenant ${key.tenantId}`);
    return { keyId, apiKey };
  };
  const storeDevelopmentKey = async (tenantId: string, apiKey: string): Promise<string> => {
    await store({ tenantId, name: DEVELOPMENT, scopes: SCOPES }, apiKey);
    return apiKey;
  };
  return {
    authenticate: (authorization) => authenticator.authenticate(authorization),
    ensureTenant: (slug) => ensureTenant(db, slug, newId()),
    createKey: (key) => store(key, newApiKey(random)),
    async revokeKey(tenantId, keyId) {
      if (!(await revokeKeyRow(db, tenantId, keyId))) throw new DuctorError('not_found', `there is no key ${keyId}`);
      authenticator.forget(keyId);
    },
    async ensureDevelopmentTenant(keptKey) {
      const tenantId = await ensureTenant(db, DEVELOPMENT, newId());
      if (keptKey === null || !isWellFormedKey(keptKey)) {
        return { tenantId, apiKey: await storeDevelopmentKey(tenantId, newApiKey(random)) };
      }
      const [found] = await findKeys(db, hashKey(keys, keptKey).hashes);
      // Kept, but unknown here: the database was thrown away, and the caller's apps still hold the key.
      if (found === undefined) return { tenantId, apiKey: await storeDevelopmentKey(tenantId, keptKey) };
      const isUsable = found.tenant_id === tenantId && !found.is_revoked && (found.expires_in_ms ?? 1) > 0;
      return { tenantId, apiKey: isUsable ? keptKey : await storeDevelopmentKey(tenantId, newApiKey(random)) };
    },
  };
}
