import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  candidateOf,
  candidatesOf,
  chooseMany,
  contextOf,
  countsOf,
  idOf,
  NOW_US,
  strategyNamed,
} from '../testing/strategy-kit.js';
import { select } from './select.js';

const fair = strategyNamed('fair_share', { window: 'forever' });
const DAY_US = 86_400_000_000;

describe('fair share', () => {
  it('is never a whole assignment away from the shares (500 sets of weights)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 2, maxLength: 8 }),
        fc.integer({ min: 1, max: 60 }),
        (weights, times) => {
          const candidates = candidatesOf(weights.length, (index) => ({ weightMilli: weights[index] ?? 1 }));
          const whole = weights.reduce((sum, weight) => sum + weight, 0);
          const counts = countsOf(chooseMany(fair, candidates, times, { isRestarting: true }).winners);
          for (const { id, weightMilli } of candidates) {
            expect(Math.abs((counts.get(id) ?? 0) - (times * weightMilli) / whole)).toBeLessThan(1);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('begins anew with each window, by the wall clock of its zone', () => {
    const daily = strategyNamed('fair_share', { window: 'day', timezone: 'Asia/Tokyo' });
    const candidates = candidatesOf(2);
    const { state } = chooseMany(daily, candidates, 5);
    const at = (nowUs: number) => select(daily, candidates, contextOf(candidates, { state, nowUs })).changes[0]?.state;
    const sum = (of: Readonly<Record<string, number>> | undefined) =>
      Object.values(of ?? {}).reduce((a, b) => a + b, 0);
    expect(sum(at(NOW_US)?.of)).toBe(6);
    expect(sum(at(NOW_US + DAY_US)?.of)).toBe(1);
    // 15:00 in UTC is midnight in Tokyo.
    expect(at(NOW_US + 4.5 * 3_600_000_000)?.at).not.toBe(at(NOW_US)?.at);
  });

  it.each([
    ['2026-07-31T23:59:59Z', 'm2026-7'],
    ['2026-08-01T00:00:00Z', 'm2026-8'],
    ['2028-02-29T12:00:00Z', 'm2028-2'],
    ['2026-12-31T23:00:00Z', 'm2026-12'],
    ['2027-01-01T00:00:00Z', 'm2027-1'],
  ])('counts %s to the month %s', (instant, window) => {
    const monthly = strategyNamed('fair_share');
    const candidates = candidatesOf(1);
    const { changes } = select(monthly, candidates, contextOf(candidates, { nowUs: Date.parse(instant) * 1000 }));
    expect(changes[0]?.state?.at).toBe(window);
  });

  it('floods no newcomer', () => {
    const old = candidatesOf(4);
    const { state } = chooseMany(fair, old, 400);
    const all = [...old, candidateOf(5)];
    const counts = countsOf(chooseMany(fair, all, 50, { state }).winners);
    expect(counts.get(idOf(5))).toBe(10);
  });
});
