/**
 * The token of an attempt: what a worker must show to settle it.
 *
 *   nonce (8 bytes) | first 16 bytes of HMAC-SHA256(key, tenant, run, path, attempt, nonce)
 *
 * Every node of the cluster makes and checks the same tokens; they name no epoch, so that a takeover does not refuse
 * the results of what runs. The fields are written with their lengths: no two attempts give the same message.
 */
import { equalBytes, hmacSha256, type ClusterSecret, type Random } from '../kernel/index.js';
import type { AttemptRef } from './ports.js';

/** Makes and checks tokens. */
export interface TaskTokens {
  /** A token for the attempt. */
  issue(ref: AttemptRef): Buffer;
  /** Whether the token was made for exactly this attempt. Takes the same time wherever a wrong one differs. */
  isGenuine(ref: AttemptRef, token: Uint8Array): boolean;
}

const PURPOSE = 'ductor/task-token/v1';
const NONCE_BYTES = 8;
const MAC_BYTES = 16;
const TOKEN_BYTES = NONCE_BYTES + MAC_BYTES;

/** The fields of an attempt, each with its length before it, and the nonce. */
function message({ tenantId, runId, path, attempt }: AttemptRef, nonce: Uint8Array): Buffer {
  const text = `${tenantId.length}:${tenantId}${runId.length}:${runId}${path.length}:${path}${attempt}:`;
  return Buffer.concat([Buffer.from(text, 'utf8'), nonce]);
}

/** Tokens under this cluster secret; those of the previous secret are accepted during a rotation. */
export function taskTokens(secret: ClusterSecret, random: Random): TaskTokens {
  const keys = secret.keysFor(PURPOSE);
  const mac = (key: Uint8Array, ref: AttemptRef, nonce: Uint8Array): Buffer =>
    hmacSha256(key, message(ref, nonce)).subarray(0, MAC_BYTES);
  return {
    issue(ref) {
      const nonce = random.bytes(NONCE_BYTES);
      return Buffer.concat([nonce, mac(keys[0], ref, nonce)]);
    },
    isGenuine(ref, token) {
      if (token.length !== TOKEN_BYTES) return false;
      const nonce = token.subarray(0, NONCE_BYTES);
      const shown = token.subarray(NONCE_BYTES);
      return keys.some((key) => equalBytes(mac(key, ref, nonce), shown));
    },
  };
}
