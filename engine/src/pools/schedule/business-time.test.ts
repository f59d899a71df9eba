/**
 * Business time against an oracle that knows nothing of it: every minute of 5 zones in a year, in CI in 3, is looked
 * at by itself,
 * by the wall clock that the runtime prints.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cases } from '../../kernel/testing/test-length.js';
import { FIRST_US, MINUTE, minuteOracle, MINUTES, SCHEDULES } from '../testing/index.js';
import { afterOpenUs, openUsBetween } from './business-time.js';
import { nextOpenUs } from './next-open.js';
import { compileOpening, isOpen, type Opening } from './opening.js';
import { scheduleField } from './schedule.js';

const DAY = 1440 * MINUTE;
/** Sums are asked for so often, minutes: from the mark before, and from the very first minute. */
const STEP = 997;
const LONG_STEP = 41 * STEP;
/** The first year in `npm test`, all three in full. */
const LOOKED_AT = cases(366 * 1440, MINUTES);

/** Looks at each minute; returns how many there were. */
function compare(hours: Opening | undefined, isOpenBy: (us: number) => boolean): number {
  let [open, mark, markOpen] = [0, 0, 0];
  let opensNext: number | undefined;
  for (let minute = 0; minute < LOOKED_AT; minute += 1) {
    const us = FIRST_US + minute * MINUTE;
    const isNow = isOpenBy(us);
    if (isOpen(hours, us) !== isNow) expect([new Date(us / 1000).toISOString(), !isNow]).toEqual(['', isNow]);
    if (opensNext !== undefined && isNow) {
      expect(us).toBe(opensNext);
      opensNext = undefined;
    }
    if (minute % STEP === 0) {
      const markUs = FIRST_US + mark * MINUTE;
      expect(openUsBetween(hours, markUs, us)).toBe((open - markOpen) * MINUTE);
      if (isNow) expect(afterOpenUs(hours, markUs, (open - markOpen) * MINUTE + 1)).toBe(us + 1);
      else opensNext ??= nextOpenUs(hours, us);
      [mark, markOpen] = [minute, open];
    }
    if (minute % LONG_STEP === 0) {
      expect(openUsBetween(hours, FIRST_US, us)).toBe(open * MINUTE);
      if (isNow) expect(afterOpenUs(hours, FIRST_US, open * MINUTE + 1)).toBe(us + 1);
    }
    if (isNow) open += 1;
  }
  return LOOKED_AT;
}

describe('business time', () => {
  it.each(Object.entries(SCHEDULES))(
    `in %s is what each of ${LOOKED_AT} minutes by itself says`,
    (zone, schedule) => {
      const hours = compileOpening(scheduleField.parse(schedule), zone);
      expect(compare(hours, minuteOracle(schedule, zone))).toBe(cases(527_040, 1_578_240));
    },
    5 * 60_000,
  );

  it('turns back: so much after an instant, and between the two instants it is so much (200 cases)', () => {
    const cases = fc.tuple(
      fc.constantFrom(...Object.entries(SCHEDULES)),
      fc.integer({ min: 0, max: 3 * 365 * 1440 * 60 }),
      fc.integer({ min: 0, max: 10 * 1440 * 60 }),
    );
    const start = Date.UTC(2024, 0, 1) * 1000;
    fc.assert(
      fc.property(cases, ([[zone, schedule], second, seconds]) => {
        const hours = compileOpening(scheduleField.parse(schedule), zone);
        const [fromUs, length] = [start + second * 1_000_000, seconds * 1_000_000];
        const endUs = afterOpenUs(hours, fromUs, length) ?? Number.NaN;
        expect(openUsBetween(hours, fromUs, endUs)).toBe(length);
        if (length > 0) expect(openUsBetween(hours, fromUs, endUs - 1)).toBe(length - 1);
        const middle = fromUs + Math.floor((endUs - fromUs) / 2);
        const [one, two] = [openUsBetween(hours, fromUs, middle), openUsBetween(hours, middle, endUs)];
        expect(one + two).toBe(length);
      }),
      { numRuns: 200 },
    );
  });

  it('is time itself where it is always open, and never comes where it never is', () => {
    expect(openUsBetween(undefined, 5, 12)).toBe(7);
    expect(openUsBetween(undefined, 12, 5)).toBe(0);
    expect(afterOpenUs(undefined, 5, 7)).toBe(12);
    const never = compileOpening(scheduleField.parse({ weekly: [] }), 'UTC');
    expect(openUsBetween(never, 0, DAY)).toBe(0);
    expect(afterOpenUs(never, 0, 1)).toBeUndefined();
    expect(afterOpenUs(never, 3, 0)).toBe(3);
  });
});
