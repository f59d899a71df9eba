import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decay, isqrt, log2Q40, negLog2Q40, roundHalfEven } from './fixed-point.js';

const RUNS = { numRuns: 500 };

describe('arithmetic without floats', () => {
  it('takes logarithms that are right to 2^-39', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), (x) => {
        const exact = Math.log2(Number(x));
        expect(Math.abs(Number(log2Q40(x)) / 2 ** 40 - exact)).toBeLessThan(1e-9);
        expect(negLog2Q40(x)).toBe((64n << 40n) - log2Q40(x));
      }),
      RUNS,
    );
    expect(log2Q40(1n << 40n)).toBe(40n << 40n);
  });

  it('takes whole square roots', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 130n }), (x) => {
        const root = isqrt(x);
        expect(root * root <= x && (root + 1n) * (root + 1n) > x).toBe(true);
      }),
      RUNS,
    );
  });

  it('halves by half-life: within 0.3 % of the exact value, never below it by more than 1, and never growing', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 2_000_000_000 }),
        fc.nat({ max: 1_000_000 }),
        fc.integer({ min: 1, max: 100_000 }),
        (value, elapsed, half) => {
          const exact = value * 2 ** (-elapsed / half);
          const got = decay(value, elapsed, half);
          expect(got).toBeGreaterThanOrEqual(Math.floor(exact) - 1);
          expect(got).toBeLessThanOrEqual(exact * 1.003 + 1);
          expect(decay(value, elapsed + 1, half)).toBeLessThanOrEqual(got);
        },
      ),
      RUNS,
    );
    expect([decay(1000, 0, 10), decay(1000, 10, 10), decay(1000, -5, 10), decay(1000, 1e9, 10)]).toEqual([
      1000, 500, 1000, 0,
    ]);
  });

  it('rounds halves to even', () => {
    expect([0.5, 1.5, 2.5, -0.5, -1.5, 1.4, 1.6].map(roundHalfEven)).toEqual([0, 2, 2, 0, -2, 1, 2]);
  });
});
