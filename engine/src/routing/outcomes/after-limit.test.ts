import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterLimit, type LimitReport, type Recovery } from './after-limit.js';

const FREE: Recovery = { cooldownUntilUs: null, limitEpisode: 0, probeUntilUs: null };
const POLICY = { probes: true, maxUs: 3_600_000_000, baseUs: 30_000_000 };
const report = (fields: Partial<LimitReport> = {}): LimitReport => ({
  ...{ recipientId: 'seat', isSuccess: false, resetAtUs: null, startedUs: 0 },
  ...fields,
});

describe('a recipient that is rate limited', () => {
  const limited = afterLimit(FREE, report({ resetAtUs: 500 }), 100, POLICY);

  it('is limited until the moment that its provider names, and no shorter when an earlier one is named', () => {
    expect(limited).toEqual({ cooldownUntilUs: 500, limitEpisode: 1, probeUntilUs: null, isLimited: true });
    const again = afterLimit(limited, report({ resetAtUs: 300 }), 200, POLICY);
    expect(again).toEqual(limited);
  });

  it('is limited for as long as its pool allows at most, and not at all by a moment that is over', () => {
    expect(afterLimit(FREE, report({ resetAtUs: 9e15 }), 100, POLICY).cooldownUntilUs).toBe(100 + POLICY.maxUs);
    expect(afterLimit(FREE, report({ resetAtUs: 50 }), 100, POLICY).cooldownUntilUs).toBe(100);
    expect(afterLimit(FREE, report({ resetAtUs: 9e15 }), 100, undefined).cooldownUntilUs).toBe(9e15);
  });

  it('is free once work that began after the limit has succeeded, and not by work that began before', () => {
    const success = (startedUs: number) => report({ isSuccess: true, startedUs });
    expect(afterLimit(limited, success(499), 600, POLICY)).toMatchObject({ limitEpisode: 1, isLimited: false });
    expect(afterLimit(limited, success(500), 499, POLICY)).toMatchObject({ limitEpisode: 1 });
    expect(afterLimit(limited, success(500), 600, POLICY)).toMatchObject({ limitEpisode: 0, isLimited: false });
  });

  it('is limited again when it is tried and fails, twice as long each time, where its pool tries seats', () => {
    let recovery: Recovery = limited;
    const lengths: number[] = [];
    for (let times = 0; times < 40; times += 1) {
      const nowUs = (recovery.cooldownUntilUs ?? 0) + 10;
      recovery = afterLimit(recovery, report({ startedUs: nowUs }), nowUs, POLICY);
      lengths.push((recovery.cooldownUntilUs ?? 0) - nowUs);
    }
    for (const [index, length] of lengths.entries()) {
      const least = Math.min(POLICY.baseUs * 2 ** (index + 1), POLICY.maxUs);
      expect(length).toBeGreaterThanOrEqual(least);
      expect(length).toBeLessThan(least * 1.15);
    }
    const atOnce = { ...POLICY, probes: false };
    expect(afterLimit(limited, report({ startedUs: 600 }), 600, atOnce)).toMatchObject({ isLimited: false });
  });

  it('is never limited for a shorter time than before, whatever is reported (2,000 histories)', () => {
    const moments = fc.integer({ min: 0, max: 1_000 });
    const step = fc.record({
      afterUs: fc.integer({ min: 0, max: 200 }),
      isSuccess: fc.boolean(),
      resetAtUs: fc.option(moments, { nil: null }),
      startedUs: moments,
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let recovery: Recovery = FREE;
        let nowUs = 0;
        for (const { afterUs, ...fields } of steps) {
          nowUs += afterUs;
          const before = recovery;
          recovery = afterLimit(before, report(fields), nowUs, POLICY);
          expect(recovery.cooldownUntilUs ?? 0).toBeGreaterThanOrEqual(before.cooldownUntilUs ?? 0);
          const isCooling = (before.cooldownUntilUs ?? 0) > nowUs;
          if (isCooling && fields.resetAtUs === null) expect(recovery.limitEpisode).toBe(before.limitEpisode);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
