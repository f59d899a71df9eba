import { describe, expect, it } from 'vitest';
import { candidatesOf, chiSquared, chooseMany, contextOf, countsOf, strategyNamed } from '../testing/strategy-kit.js';
import { select } from './select.js';

const WEIGHTS = [1, 2, 5, 8];
const candidates = candidatesOf(4, (index) => ({ weightMilli: (WEIGHTS[index] ?? 0) * 1000 }));

/** chi² at 3 degrees of freedom whose probability is 10^-6. */
const LIMIT = 30.7;

function countsFor(name: 'random' | 'weighted_random'): readonly number[] {
  const counts = countsOf(chooseMany(strategyNamed(name), candidates, 20_000, { dice: 99 }).winners);
  return candidates.map(({ id }) => counts.get(id) ?? 0);
}

describe('random choices', () => {
  it('follow the weights (chi² below p = 10^-6)', () => {
    expect(chiSquared(countsFor('weighted_random'), WEIGHTS)).toBeLessThan(LIMIT);
  });

  it('follow no weights when they are not asked to', () => {
    expect(chiSquared(countsFor('random'), [1, 1, 1, 1])).toBeLessThan(LIMIT);
  });

  it('say how likely the winner was', () => {
    const { slate, ranking } = select(strategyNamed('weighted_random'), candidates, contextOf(candidates));
    expect(ranking.propensity).toEqual([slate[0]?.weightMilli, 16_000]);
    expect(select(strategyNamed('random'), candidates, contextOf(candidates)).ranking.propensity).toEqual([1, 4]);
  });
});
