/** The room's one object: tenants, their keys, who calls, and what was done. */
import { DuctorError, uuidV7, type Clock, type ClusterSecret, type Random } from '../kernel/index.js';
import type { Database } from '../store/index.js';
import { isWellFormedKey, newApiKey } from './api-key.js';
import { auditTrail, listAudit, type AuditQuery, type AuditRecord, type AuditTrail } from './audit/index.js';
import { API_KEY_PURPOSE, createAuthenticator, type Authenticator } from './authenticate.js';
import { createKeys, MAX_LIVE_KEYS, storeKey, type CreatedKey, type Keys } from './keys.js';
import { hashKey } from './key-lookup.js';
import { OPERATOR_SCOPE, SCOPES } from './permissions.js';
import { findKeys } from './sql/find-keys.js';
import { hasLiveKeyWith } from './sql/has-live-key-with.js';
import { revokeOlderKeys } from './sql/revoke-key.js';
import { createTenants, type Tenants } from './tenants.js';

/** Tenants, keys, and the trail of what was done. All may throw database_unavailable. */
export interface Tenancy extends Pick<Authenticator, 'authenticate'>, Tenants, Keys {
  /**
   * The tenant of a development engine with a key for everything.
   *
   * @param keptKey the key the caller kept from last time; null at the first start
   *
   * Returns the key to keep: the same one as long as it is well formed and not revoked, also when the database is new.
   */
  ensureDevelopmentTenant(keptKey: string | null): Promise<{ readonly tenantId: string; readonly apiKey: string }>;
  /**
   * The first operator's key of a new database, with every scope. Throws operator_exists when a live one is there.
   *
   * @param slug the operator's tenant; made when there is none
   * @param name of the key
   */
  bootstrap(slug: string, name: string): Promise<CreatedKey>;
  /** A page of a tenant's trail. */
  listAudit(query: AuditQuery): Promise<readonly AuditRecord[]>;
  /** For rows of what has no transaction of its own. */
  readonly trail: AuditTrail;
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

const DEVELOPMENT = 'development';
/** Who did what the command line does without a key. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Tenants and keys in this database. */
export function createTenancy(options: TenancyOptions): Tenancy {
  const { db, clock, random, secret, onError = (): void => undefined } = options;
  const hashKeys = secret.keysFor(API_KEY_PURPOSE);
  const authenticator = createAuthenticator({ db, clock, keys: hashKeys, onError });
  const parts = { random, hashKeys, newId: (): string => uuidV7(clock.nowUs(), random) };
  const keys = createKeys({ ...parts, db, onRevoked: (keyId) => authenticator.forget(keyId) });
  const tenants = createTenants(db, parts);

  /** A further development key, in place of the oldest where there are too many. */
  const renewDevelopmentKey = (tenantId: string, apiKey: string): Promise<string> =>
    db.asTenant(tenantId).transaction(async (tx) => {
      await revokeOlderKeys(tx, tenantId, DEVELOPMENT, MAX_LIVE_KEYS - 1);
      await storeKey(tx, parts, { tenantId, name: DEVELOPMENT, scopes: SCOPES }, apiKey);
      return apiKey;
    });
  return {
    ...keys,
    ...tenants,
    authenticate: (authorization) => authenticator.authenticate(authorization),
    async ensureDevelopmentTenant(keptKey) {
      const tenantId = await tenants.ensureTenant(DEVELOPMENT);
      if (keptKey === null || !isWellFormedKey(keptKey)) {
        return { tenantId, apiKey: await renewDevelopmentKey(tenantId, newApiKey(random)) };
      }
      const [found] = await findKeys(db, hashKey(hashKeys, keptKey).hashes);
      // Kept, but unknown here: the database was thrown away, and the caller's apps still hold the key.
      if (found === undefined) return { tenantId, apiKey: await renewDevelopmentKey(tenantId, keptKey) };
      const isUsable = found.tenant_id === tenantId && !found.is_revoked && (found.expires_in_ms ?? 1) > 0;
      return { tenantId, apiKey: isUsable ? keptKey : await renewDevelopmentKey(tenantId, newApiKey(random)) };
    },
    async bootstrap(slug, name) {
      if (await hasLiveKeyWith(db, OPERATOR_SCOPE)) {
        throw new DuctorError('operator_exists', `there is a live key with ${OPERATOR_SCOPE}`);
      }
      const tenantId = await tenants.ensureTenant(slug);
      const by = { actorId: NOBODY, actor: 'command line', method: 'ductor key create --bootstrap', reason: '' };
      return keys.createKey({ tenantId, name, scopes: SCOPES }, by);
    },
    listAudit: (query) => listAudit(db.asTenant(query.tenantId), query),
    trail: auditTrail({ db, clock, onError }),
  };
}
