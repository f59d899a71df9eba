import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterSecret, seededRandom } from '../kernel/index.js';
import { taskTokens } from './token.js';

const OLD = clusterSecret('o'.repeat(32));
const ROTATING = clusterSecret('n'.repeat(32), 'o'.repeat(32));
const NEW = clusterSecret('n'.repeat(32));
const tokens = taskTokens(OLD, seededRandom(1));
const REF = {
  tenantId: '00000000-0000-7000-8000-00000000000a',
  runId: '00000000-0000-7000-8000-0000000000ff',
  path: 'offer[3]/post',
  attempt: 2,
};

describe('taskTokens', () => {
  it('makes 24 bytes that prove the attempt on every node', () => {
    const token = tokens.issue(REF);
    expect(token).toHaveLength(24);
    expect(taskTokens(OLD, seededRandom(2)).isGenuine(REF, token)).toBe(true);
    expect(tokens.issue(REF).equals(token)).toBe(false);
  });

  it('proves nothing about any other attempt', () => {
    const token = tokens.issue(REF);
    for (const other of [
      { ...REF, tenantId: REF.tenantId.replace('a', 'b') },
      { ...REF, runId: REF.runId.replace('ff', 'fe') },
      { ...REF, path: 'offer[3]/posT' },
      { ...REF, attempt: 3 },
      { ...REF, path: `${REF.path}2`, attempt: 0 },
    ]) {
      expect(tokens.isGenuine(other, token)).toBe(false);
    }
  });

  it('is broken by every flipped bit and every other length', () => {
    const token = tokens.issue(REF);
    for (let bit = 0; bit < token.length * 8; bit += 1) {
      const flipped = Buffer.from(token);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(tokens.isGenuine(REF, flipped)).toBe(false);
    }
    for (const wrong of [Buffer.alloc(0), token.subarray(1), Buffer.concat([token, Buffer.alloc(1)])]) {
      expect(tokens.isGenuine(REF, wrong)).toBe(false);
    }
  });

  it('cannot be moved to fields that join to the same text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(9), (runId, path, cut) => {
        const whole = runId + path;
        const moved = { ...REF, runId: whole.slice(0, cut), path: whole.slice(cut) };
        const isSame = moved.runId === runId;
        return tokens.isGenuine(moved, tokens.issue({ ...REF, runId, path })) === isSame;
      }),
    );
  });

  it('outlives a rotation of the secret by one step', () => {
    const old = tokens.issue(REF);
    expect(taskTokens(ROTATING, seededRandom(3)).isGenuine(REF, old)).toBe(true);
    expect(taskTokens(NEW, seededRandom(3)).isGenuine(REF, old)).toBe(false);
    const fresh = taskTokens(ROTATING, seededRandom(3)).issue(REF);
    expect(taskTokens(NEW, seededRandom(3)).isGenuine(REF, fresh)).toBe(true);
  });
});
