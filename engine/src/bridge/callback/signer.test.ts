import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { clusterSecret } from '../../kernel/index.js';
import { callbackSigner, type KeyOwner, type SignatureHeaders } from './signer.js';

const [OLD, NEW] = ['the old secret of tests, 32 bytes long', 'the new secret of tests, 32 bytes long'];
const OWNER: KeyOwner = { tenantId: '01900000-0000-7000-8000-00000000000a', name: 'web' };
const BODY = Buffer.from('body');

/** Whether one of the signatures is of this key over these. */
function holds(key: string | undefined, headers: SignatureHeaders, body = BODY): boolean {
  const x = Buffer.from((key ?? '').slice(5), 'base64').toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), body]);
  return headers['webhook-signature']
    .split(' ')
    .some((text) => verify(null, signed, publicKey, Buffer.from(text.slice(4), 'base64')));
}

describe('callbackSigner', () => {
  it('signs id, timestamp and body for the key that it shows', () => {
    const signer = callbackSigner(clusterSecret(OLD));
    const headers = signer.sign(OWNER, 'id', 1_800_000_000, BODY);
    expect(headers).toMatchObject({ 'webhook-id': 'id', 'webhook-timestamp': '1800000000' });
    expect(headers['webhook-signature']).toMatch(/^v1a,[A-Za-z0-9+/]{86}==$/);
    const [key, ...more] = signer.publicKeys(OWNER);
    expect([holds(key, headers), more]).toEqual([true, []]);
    expect(holds(key, headers, Buffer.from('bodY'))).toBe(false);
    expect(holds(key, { ...headers, 'webhook-id': 'jd' })).toBe(false);
    expect(holds(key, { ...headers, 'webhook-timestamp': '1800000001' })).toBe(false);
  });

  it('has the same keys on every node, and others for every endpoint, tenant and secret', () => {
    const keysOf = (secret: string, owner: KeyOwner): readonly string[] =>
      callbackSigner(clusterSecret(secret)).publicKeys(owner);
    expect(keysOf(OLD, OWNER)).toEqual(keysOf(OLD, OWNER));
    const all = [
      ...keysOf(OLD, OWNER),
      ...keysOf(NEW, OWNER),
      ...keysOf(OLD, { ...OWNER, name: 'web2' }),
      ...keysOf(OLD, { ...OWNER, tenantId: '01900000-0000-7000-8000-00000000000b' }),
    ];
    expect(new Set(all).size).toBe(4);
    for (const key of all) expect(key).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
  });

  it('signs with both secrets while they are rotated, so that apps with either key go on', () => {
    const before = callbackSigner(clusterSecret(OLD)).publicKeys(OWNER);
    const after = callbackSigner(clusterSecret(NEW)).publicKeys(OWNER);
    const rotating = callbackSigner(clusterSecret(NEW, OLD));
    expect(rotating.publicKeys(OWNER)).toEqual([...after, ...before]);
    const headers = rotating.sign(OWNER, 'id', 1, BODY);
    expect([...before, ...after].map((key) => holds(key, headers))).toEqual([true, true]);
  });
});
