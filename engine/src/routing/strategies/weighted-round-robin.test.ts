import fc from 'fast-check';
import { expect, it } from 'vitest';
import { candidatesOf, chooseMany, countsOf, strategyNamed } from '../testing/strategy-kit.js';

it('serves each its weight in a row, exactly over a cycle (500 sets of weights)', () => {
  const blocks = strategyNamed('weighted_round_robin');
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 6 }), (list) => {
      // One of weight 1 makes the common divisor 1, so that blocks are the weights.
      const all = [...list, 1];
      const candidates = candidatesOf(all.length, (index) => ({ weightMilli: (all[index] ?? 0) * 1000 }));
      const { winners } = chooseMany(
        blocks,
        candidates,
        all.reduce((sum, weight) => sum + weight, 0),
        { isRestarting: true },
      );
      const counts = countsOf(winners);
      expect(candidates.map(({ id }) => counts.get(id))).toEqual(all);
      const changes = winners.filter((id, index) => index > 0 && id !== winners[index - 1]).length;
      expect(changes).toBe(all.length - 1);
    }),
    { numRuns: 500 },
  );
});

it('keeps blocks short when weights are far apart', () => {
  const candidates = candidatesOf(2, (index) => ({ weightMilli: index === 0 ? 1 : 1_000_000 }));
  const { winners } = chooseMany(strategyNamed('weighted_round_robin', { max_block: 10 }), candidates, 22);
  expect(countsOf(winners).get(candidates[0]?.id ?? '')).toBe(2);
});
