import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { candidateOf, candidatesOf, chooseMany, countsOf, idOf, strategyNamed } from '../testing/strategy-kit.js';

const smooth = strategyNamed('smooth_weighted_round_robin');
const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 });

describe('smooth weighted round robin', () => {
  it('gives 5, 1, 1 as a a b a c a a, b and c in either order', () => {
    const candidates = candidatesOf(3, (index) => ({ weightMilli: index === 0 ? 5000 : 1000 }));
    const names = chooseMany(smooth, candidates, 7)
      .winners.map((id) => (id === idOf(1) ? 'a' : 'x'))
      .join('');
    expect(names).toBe('aaxaxaa');
  });

  it('serves each exactly its weight over a cycle, and is then back where it began (500 sets of weights)', () => {
    fc.assert(
      fc.property(weights, (list) => {
        const candidates = candidatesOf(list.length, (index) => ({ weightMilli: (list[index] ?? 0) * 1000 }));
        const cycle = list.reduce((sum, weight) => sum + weight, 0);
        const { winners, state } = chooseMany(smooth, candidates, cycle, { isRestarting: true });
        const counts = countsOf(winners);
        expect(candidates.map(({ id }) => counts.get(id))).toEqual(list);
        expect(Object.values(state['root']?.of ?? {}).every((weight) => weight === 0)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps the exact counts whatever eligible set the cycle is spent on after one left', () => {
    fc.assert(
      fc.property(
        weights.filter(({ length }) => length > 1),
        fc.nat({ max: 20 }),
        (list, before) => {
          const candidates = candidatesOf(list.length, (index) => ({ weightMilli: (list[index] ?? 0) * 1000 }));
          const { state } = chooseMany(smooth, candidates, before);
          const left = candidates.slice(1);
          const cycle = list.slice(1).reduce((sum, weight) => sum + weight, 0);
          const counts = countsOf(chooseMany(smooth, left, cycle * 50, { state }).winners);
          for (const { id, weightMilli } of left) {
            expect(Math.abs((counts.get(id) ?? 0) - (weightMilli / 1000) * 50)).toBeLessThanOrEqual(list.length + 1);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('floods no newcomer: at most twice its share in its first window', () => {
    const old = candidatesOf(4);
    const { state } = chooseMany(smooth, old, 1001);
    const all = [...old, candidateOf(5)];
    const counts = countsOf(chooseMany(smooth, all, 20, { state }).winners);
    expect(counts.get(idOf(5))).toBeLessThanOrEqual(8);
    expect(counts.get(idOf(5))).toBeGreaterThanOrEqual(1);
  });

  it('keeps the sum of its state near 0 over many comings and goings', () => {
    let state = {};
    for (let round = 0; round < 50; round += 1) {
      const candidates = candidatesOf(2 + (round % 5), (index) => ({ weightMilli: 1000 + index * 500 }));
      state = chooseMany(smooth, candidates, 7, { state }).state;
    }
    const of: Record<string, number> = Reflect.get(Reflect.get(state, 'root') ?? {}, 'of') ?? {};
    const sum = Object.values(of).reduce((total, weight) => total + weight, 0);
    expect(Math.abs(sum)).toBeLessThanOrEqual(8000);
  });
});
