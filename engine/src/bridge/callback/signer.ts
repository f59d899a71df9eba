/**
 * Signs the engine's calls to apps, in the form of Standard Webhooks with Ed25519 (RFC 8032).
 *
 * The key of an endpoint is derived from the cluster's secret, the tenant and the endpoint's name, so that every node
 * has it, nothing is stored, and what one app can verify says nothing to another. While the secret is rotated there are
 * two keys, and a call carries two signatures.
 */
import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { hmacSha256, type ClusterSecret } from '../../kernel/index.js';

/** Whose key it is. */
export interface KeyOwner {
  readonly tenantId: string;
  /** Of the endpoint. */
  readonly name: string;
}

/** Headers, or metadata, of a call; names in lower case. */
export type SignatureHeaders = Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>;

/** Signs calls. */
export interface CallbackSigner {
  /**
   * @param id unique for the call
   * @param timestampS seconds since 1970
   */
  sign(owner: KeyOwner, id: string, timestampS: number, body: Uint8Array): SignatureHeaders;
  /** Public keys to verify with: "whpk_" and base64. */
  publicKeys(owner: KeyOwner): readonly string[];
}

const PURPOSE = 'ductor/callback-signing/v1';
/** PKCS #8 of an Ed25519 private key up to its 32 bytes (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_KEY_BYTES = 32;
const MAX_KEPT = 10_000;

function privateKey(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

function publicText(key: KeyObject): string {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return `whpk_${spki.subarray(-PUBLIC_KEY_BYTES).toString('base64')}`;
}

/** A signer under this secret. */
export function callbackSigner(secret: ClusterSecret): CallbackSigner {
  const purposeKeys = secret.keysFor(PURPOSE);
  const kept = new Map<string, readonly KeyObject[]>();
  const keysOf = ({ tenantId, name }: KeyOwner): readonly KeyObject[] => {
    const owner = `${tenantId}/${name}`;
    const known = kept.get(owner);
    if (known !== undefined) return known;
    const keys = purposeKeys.map((key) => privateKey(hmacSha256(key, owner)));
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(owner, keys);
    return keys;
  };
  return {
    sign(owner, id, timestampS, body) {
      const signed = Buffer.concat([Buffer.from(`${id}.${timestampS}.`, 'utf8'), body]);
      const signatures = keysOf(owner).map((key) => `v1a,${sign(null, signed, key).toString('base64')}`);
      return {
        'webhook-id': id,
        'webhook-timestamp': String(timestampS),
        'webhook-signature': signatures.join(' '),
      };
    },
    publicKeys: (owner) => keysOf(owner).map(publicText),
  };
}
