import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Candidate } from '../core/candidate.js';
import { candidatesOf, chiSquared, contextOf, routableOf, strategyNamed } from '../testing/strategy-kit.js';
import { select } from './select.js';

const hash = strategyNamed('consistent_hash', { hash_key: 'routable.id' });

function winnerOf(key: string, candidates: readonly Candidate[], strategy = hash): string | undefined {
  return select(strategy, candidates, contextOf(candidates, { routable: routableOf({ id: key }) })).slate[0]?.id;
}

describe('rendezvous hashing', () => {
  it('moves only the keys of the one that leaves (500 pools)', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(weights, fc.string(), fc.nat(), (list, key, gone) => {
        const candidates = candidatesOf(list.length, (index) => ({ weightMilli: (list[index] ?? 0) * 500 }));
        const before = winnerOf(key, candidates);
        const left = candidates.filter((_, index) => index !== gone % list.length);
        const removed = candidates[gone % list.length]?.id;
        if (before !== removed) expect(winnerOf(key, left)).toBe(before);
        else expect(winnerOf(key, left)).not.toBe(removed);
      }),
      { numRuns: 500 },
    );
  });

  it('moves keys only to one whose weight grew', () => {
    const before = candidatesOf(5);
    const after = before.map((each, index) => (index === 2 ? { ...each, weightMilli: 3000 } : each));
    const keys = Array.from({ length: 500 }, (_, index) => `key ${index}`);
    const moved = keys.filter((key) => winnerOf(key, before) !== winnerOf(key, after));
    expect(moved.length).toBeGreaterThan(0);
    expect(moved.every((key) => winnerOf(key, after) === before[2]?.id)).toBe(true);
  });

  it('shares keys by weight (chi² below p = 10^-6)', () => {
    const shares = [1, 2, 3, 4];
    const candidates = candidatesOf(4, (index) => ({ weightMilli: (shares[index] ?? 0) * 1000 }));
    const counts = [0, 0, 0, 0];
    for (let key = 0; key < 5000; key += 1) {
      const index = candidates.findIndex(({ id }) => id === winnerOf(`customer-${key}`, candidates));
      counts[index] = (counts[index] ?? 0) + 1;
    }
    expect(chiSquared(counts, shares)).toBeLessThan(30.7);
  });

  it('keeps loads within (1 + ε) of the average when it is bounded', () => {
    const bounded = strategyNamed('consistent_hash', { hash_key: 'routable.id', bounded_load_pct: 25 });
    let candidates = candidatesOf(5);
    for (let key = 0; key < 100; key += 1) {
      // One key is asked for again and again: without the bound all would go to one.
      const winner = winnerOf('hot', candidates, bounded);
      candidates = candidates.map((each) => (each.id === winner ? { ...each, load: each.load + 1 } : each));
      const total = candidates.reduce((sum, { load }) => sum + load, 0);
      for (const { load } of candidates) expect(load).toBeLessThanOrEqual(Math.ceil((1.25 * total) / 5));
    }
  });
});
