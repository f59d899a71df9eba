import { describe, expect, it } from 'vitest';
import { chiSquared } from '../testing/strategy-kit.js';
import { createStream, deriveSeed, seedOf, seedText, shuffle } from './stream.js';

describe('a stream of random numbers', () => {
  it('is xoshiro128**: the first numbers of the reference implementation for the seed 1, 2, 3, 4', () => {
    const stream = createStream([1, 2, 3, 4]);
    expect(Array.from({ length: 5 }, () => stream.below(2 ** 32))).toEqual([11520, 0, 5927040, 70819200, 2031721883]);
    expect(stream.draws).toBe(5);
  });

  it('takes a seed of zeros', () => {
    expect(new Set(Array.from({ length: 9 }, createStream([0, 0, 0, 0]).bits53)).size).toBe(9);
  });

  it('draws without bias: chi² of 6 sides below the value of p = 10^-6', () => {
    const stream = createStream([7, 7, 7, 7]);
    const counts = [0, 0, 0, 0, 0, 0];
    for (let draw = 0; draw < 60_000; draw += 1) {
      const side = stream.below(6);
      counts[side] = (counts[side] ?? 0) + 1;
    }
    expect(chiSquared(counts, [1, 1, 1, 1, 1, 1])).toBeLessThan(35.9);
  });

  it('shuffles every order equally often', () => {
    const stream = createStream([3, 1, 4, 1]);
    const counts = new Map<string, number>();
    for (let time = 0; time < 12_000; time += 1) {
      const order = shuffle(['a', 'b', 'c'], stream).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    expect(chiSquared([...counts.values()], [1, 1, 1, 1, 1, 1])).toBeLessThan(35.9);
  });

  it('has another seed for each attempt, hop, pool and decision', () => {
    const of = { decisionId: 'd', poolId: 'p', hop: 0, attempt: 0 };
    const key = new Uint8Array(32);
    const seeds = [of, { ...of, attempt: 1 }, { ...of, hop: 1 }, { ...of, poolId: 'q' }, { ...of, decisionId: 'e' }];
    expect(new Set(seeds.map((each) => seedText(deriveSeed(key, each)))).size).toBe(5);
    expect(seedOf(seedText(deriveSeed(key, of)))).toEqual(deriveSeed(key, of));
  });
});
