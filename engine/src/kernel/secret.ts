/**
 * The cluster's secret and the keys derived from it. One secret (DUCTOR_SECRET), a key of its own for each purpose by
 * HKDF (RFC 5869) with SHA-256, so that what one purpose signs means nothing to another. Two secrets during a rotation:
 * the current one signs, both are accepted.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { DuctorError } from './errors/ductor-error.js';

/** Keys of one purpose. Never empty: the first is the current secret's, the second, if any, the previous one's. */
export type PurposeKeys = readonly [Uint8Array, ...Uint8Array[]];

/** The cluster's secret. Prints as nothing: it has no readable field. */
export interface ClusterSecret {
  /**
   * The keys of a purpose, 32 bytes each.
   *
   * @param purpose a fixed name, never reused for something else: "ductor/task-token/v1"
   */
  keysFor(purpose: string): PurposeKeys;
}

/** Fewest bytes of a secret: what HKDF spreads must have the strength of the key it makes. */
const MIN_SECRET_BYTES = 32;
const KEY_BYTES = 32;

/**
 * Takes the cluster's secret.
 *
 * @param current signs and verifies; at least 32 bytes of UTF-8
 * @param previous only verifies, during a rotation; default none
 *
 * Throws invalid_argument when one is too short; the message never holds it.
 */
export function clusterSecret(current: string, previous?: string): ClusterSecret {
  const secrets = previous === undefined ? [current] : [current, previous];
  for (const secret of secrets) {
    const bytes = Buffer.byteLength(secret, 'utf8');
    if (bytes < MIN_SECRET_BYTES) {
      throw new DuctorError(
        'invalid_argument',
        `the cluster secret has ${bytes} bytes, at least ${MIN_SECRET_BYTES} are needed`,
        {
          remedy: 'Set DUCTOR_SECRET to 32 random bytes or more, for example from `openssl rand -hex 32`.',
        },
      );
    }
  }
  const derive = (secret: string, purpose: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
  return {
    keysFor: (purpose) => [derive(current, purpose), ...secrets.slice(1).map((secret) => derive(secret, purpose))],
  };
}

/** HMAC-SHA256 (RFC 2104), 32 bytes. */
export function hmacSha256(key: Uint8Array, message: Uint8Array | string): Buffer {
  return createHmac('sha256', key).update(message).digest();
}

/** Whether two byte strings are equal, in a time that depends on their lengths only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
