import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { clusterSecret, equalBytes, hmacSha256 } from './secret.js';

const A = 'a'.repeat(32);
const B = 'b'.repeat(40);

describe('clusterSecret', () => {
  it('gives each purpose its own 32 bytes, the same every time', () => {
    const [one] = clusterSecret(A).keysFor('one');
    const [two] = clusterSecret(A).keysFor('two');
    expect(one).toHaveLength(32);
    expect(Buffer.from(one).equals(two)).toBe(false);
    expect(clusterSecret(A).keysFor('one')).toEqual([one]);
  });

  it('puts the current secret first and the previous one second', () => {
    const [current, previous] = clusterSecret(B, A).keysFor('one');
    expect([current]).toEqual(clusterSecret(B).keysFor('one'));
    expect([previous]).toEqual(clusterSecret(A).keysFor('one'));
  });

  it('refuses a short secret without repeating it', () => {
    expect(() => clusterSecret('hunter2-hunter2')).toThrow(/15 bytes/);
    expect(() => clusterSecret('hunter2-hunter2')).not.toThrow(/hunter2/);
    expect(() => clusterSecret(A, 'short')).toThrow(/5 bytes/);
  });

  it('shows nothing when it is printed', () => {
    expect(inspect(clusterSecret(A), { depth: 9 }) + JSON.stringify(clusterSecret(A))).not.toContain(A);
  });
});

describe('hmacSha256', () => {
  it('is RFC 4231 test case 2', () => {
    expect(hmacSha256(Buffer.from('Jefe'), 'what do ya want for nothing?').toString('hex')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });
});

describe('equalBytes', () => {
  it('compares content and length', () => {
    expect(equalBytes(Buffer.from('ab'), Buffer.from('ab'))).toBe(true);
    expect(equalBytes(Buffer.from('ab'), Buffer.from('ac'))).toBe(false);
    expect(equalBytes(Buffer.from('ab'), Buffer.from('abc'))).toBe(false);
  });
});
