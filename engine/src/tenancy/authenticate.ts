/**
 * From an Authorization header to a principal. Sits before every call, so what was found is kept for KEY_TTL_MS.
 *
 * Invariants:
 * 1. A text without the shape and checksum of a key never reaches the database.
 * 2. A revocation counts everywhere within KEY_TTL_MS, and here at once; an expiry counts to the millisecond.
 * 3. Unknown keys are kept in a cache of their own: a flood of guesses cannot push out the keys of real callers.
 * 4. Neither a key nor its hash is ever part of a message.
 */
import { DuctorError, sha256Hex, type Clock, type PurposeKeys } from '../kernel/index.js';
import type { Queryable } from '../store/index.js';
import { boundedCache } from './bounded-cache.js';
import { isWellFormedKey } from './api-key.js';
import { hashKey, keyLookup, type FoundKey, type HashedKey } from './key-lookup.js';
import { isScope } from './permissions.js';
import type { Principal } from './principal.js';
import type { KeyRow } from './sql/find-keys.js';
import { noteKeyUse, type KeyUse } from './sql/note-key-use.js';

/** Checks who calls. */
export interface Authenticator {
  /**
   * The principal of a call: at once when its key was seen lately.
   *
   * @param authorization the Authorization header; undefined when there is none
   *
   * Throws (or rejects with) unauthenticated, limit_exceeded, database_unavailable.
   */
  authenticate(authorization: string | undefined): Principal | Promise<Principal>;
  /** Forgets what it knows of a key of this id. */
  forget(keyId: string): void;
}

/** How long an answer of the database about a key counts, ms. */
export const KEY_TTL_MS = 2_000;
const MAX_KNOWN = 10_000;
const MAX_UNKNOWN = 10_000;
const BEARER = /^Bearer +(\S+)$/i;

type Refusal = 'unknown' | 'revoked' | 'expired';

function refuse(refusal: Refusal): never {
  const what = { unknown: 'is not known', revoked: 'was revoked', expired: 'has expired' }[refusal];
  throw new DuctorError('unauthenticated', `the API key ${what}`);
}

/** What the header presents as a key. Throws unauthenticated. */
function presentedIn(authorization: string | undefined): string {
  if (authorization === undefined) throw new DuctorError('unauthenticated', 'the call carries no Authorization');
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined) throw new DuctorError('unauthenticated', 'the Authorization is not "Bearer KEY"');
  return key;
}

/** The hashes of a presented key. Throws unauthenticated when it is no key. */
function hashesOf(keys: PurposeKeys, presented: string): HashedKey {
  if (isWellFormedKey(presented)) return hashKey(keys, presented);
  throw new DuctorError('unauthenticated', 'the API key is malformed: its checksum does not fit');
}

function principalOf(row: KeyRow): Principal {
  // A scope of a newer engine means nothing here; it gives no right.
  const scopes = new Set(row.scopes.filter(isScope));
  return { tenantId: row.tenant_id, principalId: row.key_id, name: row.name, scopes };
}

/** Parts of an authenticator. */
export interface AuthenticatorOptions {
  readonly db: Queryable;
  readonly clock: Clock;
  /** Keys of the purpose API_KEY_PURPOSE. */
  readonly keys: PurposeKeys;
  /** Told when the use of keys could not be noted; default: nobody. */
  readonly onError?: (error: unknown) => void;
}

/** Purpose of the key that API keys are hashed under. */
export const API_KEY_PURPOSE = 'ductor/api-key/v1';

/** An authenticator on this database. */
export function createAuthenticator({ db, clock, keys, onError }: AuthenticatorOptions): Authenticator {
  const known = boundedCache<Principal>(MAX_KNOWN);
  const refused = boundedCache<Refusal>(MAX_UNKNOWN);
  const lookup = keyLookup(db, clock);
  let uses = new Map<string, KeyUse>();
  // A look that was under way when a key was forgotten may answer what was true before: it is not kept.
  let forgets = 0;

  const flushUses = (): void => {
    const batch = [...uses.values()];
    uses = new Map();
    noteKeyUse(db, batch).catch((error: unknown) => onError?.(error));
  };
  const noteUse = (key: HashedKey, { row, isOldHash }: FoundKey): void => {
    if (!row.is_use_stale && !isOldHash) return;
    if (uses.size === 0) clock.defer(flushUses);
    uses.set(row.key_id, { tenantId: row.tenant_id, keyId: row.key_id, keyHash: key.hashes[0] });
  };
  const look = async (name: string, key: HashedKey): Promise<Principal> => {
    // Before the question: what the answer says was true at some moment after it.
    const askedMs = clock.monotonicMs();
    const forgetsBefore = forgets;
    const found = await lookup(key);
    const refusal = found === undefined ? 'unknown' : refusalOf(found.row);
    if (found === undefined || refusal !== null) {
      refused.set(name, refusal ?? 'unknown', askedMs + KEY_TTL_MS);
      return refuse(refusal ?? 'unknown');
    }
    const principal = principalOf(found.row);
    const keptMs = Math.min(KEY_TTL_MS, found.row.expires_in_ms ?? KEY_TTL_MS);
    if (forgets === forgetsBefore) known.set(name, principal, askedMs + keptMs);
    noteUse(key, found);
    return principal;
  };
  return {
    authenticate(authorization) {
      const presented = presentedIn(authorization);
      // What stands for it in memory. The hash under the secret and the checksum took 7 % of a preview by gRPC.
      const name = sha256Hex(presented);
      const nowMs = clock.monotonicMs();
      const principal = known.get(name, nowMs);
      if (principal !== undefined) return principal;
      const refusal = refused.get(name, nowMs);
      return refusal === undefined ? look(name, hashesOf(keys, presented)) : refuse(refusal);
    },
    forget(keyId) {
      forgets += 1;
      known.forget(({ principalId }) => principalId === keyId);
    },
  };
}

/** Why the database's row of a key gives no right; null when it does. */
function refusalOf(row: KeyRow): Refusal | null {
  if (row.is_revoked) return 'revoked';
  return row.expires_in_ms !== null && row.expires_in_ms <= 0 ? 'expired' : null;
}
