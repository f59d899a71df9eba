import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../kernel/index.js';
import { isWellFormedKey, newApiKey } from './api-key.js';

const key = newApiKey(seededRandom(1));

describe('newApiKey', () => {
  it('is dk_ and 49 base62 characters', () => {
    expect(key).toMatch(/^dk_[0-9A-Za-z]{49}$/);
  });

  it('is always well formed and never the same for other bits', () => {
    const keys = Array.from({ length: 500 }, (_, seed) => newApiKey(seededRandom(seed)));
    expect(keys.every(isWellFormedKey)).toBe(true);
    expect(new Set(keys).size).toBe(500);
  });

  it('keeps all 256 bits: the extremes differ and have the same length', () => {
    const of = (byte: number): string =>
      newApiKey({ uint32: () => 0, bytes: (count) => new Uint8Array(count).fill(byte) });
    expect(of(0)).toMatch(/^dk_0{43}/);
    expect(of(255)).not.toBe(of(0));
    expect(of(255)).toHaveLength(of(0).length);
  });
});

describe('isWellFormedKey', () => {
  it('refuses every single changed character', () => {
    for (let at = 3; at < key.length; at += 1) {
      const changed = key.slice(0, at) + (key.charAt(at) === 'A' ? 'B' : 'A') + key.slice(at + 1);
      expect(isWellFormedKey(changed)).toBe(false);
    }
  });

  it('refuses what is no key', () => {
    for (const text of ['', 'dk_', key.slice(1), `${key}0`, ` ${key}`, `${key}\n`, key.toLowerCase(), 'x'.repeat(52)]) {
      expect(isWellFormedKey(text)).toBe(false);
    }
  });

  it('answers for any text without throwing', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !isWellFormedKey(text)));
  });
});
