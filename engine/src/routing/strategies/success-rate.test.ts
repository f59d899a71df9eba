import { describe, expect, it } from 'vitest';
import { seededRandom, unitInterval } from '../../kernel/index.js';
import type { StrategyName } from '../../pools/index.js';
import { candidatesOf, contextOf, NOW_US, strategyNamed } from '../testing/strategy-kit.js';
import { select } from './select.js';
import { afterOutcome } from './success-counts.js';

const RATES = [0.5, 0.6, 0.7, 0.8];
const FOREVER_US = 1e15;

/** Successes lost against always choosing the best of four, over 1,000 choices. */
function regretOf(name: StrategyName, dice: number): number {
  const strategy = strategyNamed(name, name === 'random' ? {} : { half_life: '365d' });
  const outcomes = seededRandom(dice);
  let candidates = candidatesOf(4);
  let regret = 0;
  for (let pull = 0; pull < 1000; pull += 1) {
    const nowUs = NOW_US + pull * 1000;
    const [winner] = select(strategy, candidates, contextOf(candidates, { dice: dice * 7919 + pull, nowUs })).slate;
    const rate = RATES[candidates.findIndex(({ id }) => id === winner?.id)] ?? 0;
    regret += 0.8 - rate;
    const isSuccess = unitInterval(outcomes) < rate;
    candidates = candidates.map((each) => {
      if (each.id !== winner?.id) return each;
      return { ...each, facts: { ...each.facts, ...afterOutcome(each.facts, { atUs: nowUs, isSuccess }, FOREVER_US) } };
    });
  }
  return regret;
}

function meanRegret(name: StrategyName): number {
  return [1, 2, 3, 4, 5, 6].reduce((sum, dice) => sum + regretOf(name, dice), 0) / 6;
}

describe('learning from outcomes', () => {
  it('loses at most 40 of 1,000 with Thompson sampling, 90 with UCB1; chance loses 150', () => {
    expect(meanRegret('success_rate_thompson')).toBeLessThan(40);
    expect(meanRegret('success_rate_ucb1')).toBeLessThan(90);
    expect(meanRegret('random')).toBeGreaterThan(130);
  });

  it('tries everybody once before UCB1 compares', () => {
    const candidates = candidatesOf(3, (index) => ({
      facts: index === 1 ? {} : { successMilli: 5000, failureMilli: 0, ratedAtUs: NOW_US },
    }));
    const [first] = select(strategyNamed('success_rate_ucb1'), candidates, contextOf(candidates)).order;
    expect(first).toBe(candidates[1]);
  });

  it('forgets by half-life', () => {
    const facts = { held: 0, committed: 0, admittedToday: 0, committedToday: 0, successMilli: 8000, ratedAtUs: 0 };
    expect(afterOutcome(facts, { atUs: 2_000_000, isSuccess: false }, 1_000_000)).toEqual({
      successMilli: 2000,
      failureMilli: 1000,
      ratedAtUs: 2_000_000,
    });
  });
});
