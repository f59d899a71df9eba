import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type PayloadCodec, PLAIN_CODER, valueCoder } from './payload-codec.js';

const KEY = randomBytes(32);

const aes: PayloadCodec = {
  name: 'aes-1',
  encode(bytes) {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', KEY, nonce);
    return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  },
  decode(bytes) {
    const decipher = createDecipheriv('aes-256-gcm', KEY, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  },
};

describe('a coder with a codec of the app', () => {
  const coder = valueCoder(aes);

  it('sends nothing that can be read, and reads it back with its types', () => {
    const value = { secret: 'very secret', at: new Date(5) };
    const payload = coder.toPayload(value, 'it');
    expect(payload.encoding).toBe('codec/aes-1');
    expect(payload.data.includes('secret')).toBe(false);
    expect(coder.fromPayload(payload)).toStrictEqual(value);
    expect(coder.fromPayload(coder.toPayload([1], 'it'))).toStrictEqual([1]);
  });

  it('reads what was sent without one, and nobody else reads what it sends', () => {
    expect(coder.fromPayload(PLAIN_CODER.toPayload({ a: 1n }, 'it'))).toStrictEqual({ a: 1n });
    expect(coder.fromPayload(undefined)).toBeUndefined();
    const payload = coder.toPayload(1, 'it');
    const other = valueCoder({ ...aes, name: 'aes-2' });
    for (const stranger of [PLAIN_CODER, other]) {
      expect(() => stranger.fromPayload(payload)).toThrow(expect.objectContaining({ code: 'value_not_json' }));
    }
    const flipped = Buffer.from(payload.data);
    flipped[14] = (flipped[14] ?? 0) ^ 1;
    expect(() => coder.fromPayload({ ...payload, data: flipped })).toThrow(/authenticate/);
  });

  it('measures what is sent', () => {
    const zeros = { name: 'pad', encode: (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.alloc(2 ** 21)]) };
    const padding = valueCoder({ ...zeros, decode: (bytes) => bytes });
    expect(() => padding.toPayload(1, 'output of step a')).toThrow(/output of step a has 2097154 bytes/);
    expect(() => PLAIN_CODER.toPayload('x'.repeat(2 ** 21), 'input of w')).toThrow(
      expect.objectContaining({ code: 'value_too_large' }),
    );
  });

  it('has a name that can stand in an encoding', () => {
    expect(() => valueCoder({ ...aes, name: 'a/b' })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });
});
