import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cooled, NO_USAGE, refund, spend, type BudgetTerms, type Usage } from './budget.js';
import { periodEndUs, periodNumber, type FixedPeriod, type WallClock } from './period.js';

const HOUR = 3_600_000_000;
const at = (text: string): number => Date.parse(text) * 1000;

/** The wall clock as the runtime prints it, written here a second time. */
const wall: WallClock = (zone, us) => {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit' },
  });
  const [date = '', time = ''] = format.format(us / 1000).split(', ');
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return { day: Date.parse(date) / 86_400_000, minute: hour * 60 + minute };
};

const terms = (more: Partial<BudgetTerms> = {}): BudgetTerms => ({
  ...{ maxClaims: 2, period: { fixed: 'day', timezone: 'UTC' }, maxOpen: null, cooldownAfterClaimUs: 0 },
  ...{ refundsReleases: false, carryOver: 0, ...more },
});

/** Claims one after the other; what each came to. */
function claims(budget: BudgetTerms, moments: readonly number[]): readonly string[] {
  let usage = NO_USAGE;
  return moments.map((us) => {
    const answer = spend(budget, usage, us, 0, wall);
    if (answer.kind === 'granted') ({ usage } = answer);
    return answer.kind;
  });
}

describe('a budget', () => {
  it('is whole again at midnight of its zone, not of UTC', () => {
    const chicago = terms({ period: { fixed: 'day', timezone: 'America/Chicago' } });
    const moments = ['T20:00Z', 'T23:59Z', 'T04:59:59Z', 'T05:00Z', 'T05:01Z', 'T05:02Z'];
    const days = ['2026-07-10', '2026-07-10', '2026-07-11', '2026-07-11', '2026-07-11', '2026-07-11'];
    const answers = claims(
      chicago,
      moments.map((time, index) => at(`${days[index]}${time}`)),
    );
    expect(answers).toEqual(['granted', 'granted', 'exhausted', 'granted', 'granted', 'exhausted']);
  });

  it.each<[FixedPeriod, string, string, string]>([
    // Clocks go forward on this day: 23 hours. And back on this one: 25 hours.
    ['day', 'America/New_York', '2026-03-08T12:00Z', '2026-03-09T04:00Z'],
    ['day', 'America/New_York', '2026-11-01T12:00Z', '2026-11-02T05:00Z'],
    // By half an hour.
    ['day', 'Australia/Lord_Howe', '2026-04-04T15:30Z', '2026-04-05T13:30Z'],
    // The hour that comes twice is one of two hours, the one that is left out ends at once.
    ['hour', 'America/New_York', '2026-11-01T05:30Z', '2026-11-01T07:00Z'],
    ['hour', 'America/New_York', '2026-03-08T06:59Z', '2026-03-08T07:00Z'],
    ['hour', 'Asia/Kathmandu', '2026-05-01T00:00Z', '2026-05-01T00:15Z'],
    ['week', 'Europe/Berlin', '2026-03-29T21:59Z', '2026-03-29T22:00Z'],
    ['month', 'Asia/Tokyo', '2026-02-10T00:00Z', '2026-02-28T15:00Z'],
    ['month', 'America/Chicago', '2028-02-10T00:00Z', '2028-03-01T06:00Z'],
  ])('of a %s in %s: what is refused at %s may be claimed at %s', (fixed, timezone, refused, next) => {
    const us = at(refused);
    const number = periodNumber(fixed, timezone, us, wall);
    expect(periodEndUs(fixed, timezone, us, number, wall)).toBe(at(next));
    const answer = spend(terms({ maxClaims: 1, period: { fixed, timezone } }), used(us), us, 0, wall);
    expect(answer).toEqual({ kind: 'exhausted', used: 1, limit: 1, untilUs: at(next) });
    function used(claimedUs: number): Usage {
      const first = spend(terms({ maxClaims: 1, period: { fixed, timezone } }), NO_USAGE, claimedUs, 0, wall);
      return first.kind === 'granted' ? first.usage : NO_USAGE;
    }
  });

  it('grants exactly what it says in every period of every zone, whatever the moments (300 histories)', () => {
    const zone = fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Africa/Cairo');
    const period = fc.constantFrom<FixedPeriod>('hour', 'day', 'week', 'month');
    const step = fc.integer({ min: 0, max: 40 * HOUR });
    fc.assert(
      fc.property(zone, period, fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), (...drawn) => {
        const [timezone, fixed, steps, maxClaims] = drawn;
        let us = at('2026-03-01T00:00Z');
        const moments = steps.map((by) => (us += by));
        const answers = claims(terms({ maxClaims, period: { fixed, timezone } }), moments);
        const granted = new Map<number, number>();
        for (const [index, moment] of moments.entries()) {
          const number = periodNumber(fixed, timezone, moment, wall);
          const before = granted.get(number) ?? 0;
          expect(answers[index]).toBe(before < maxClaims ? 'granted' : 'exhausted');
          if (before < maxClaims) granted.set(number, before + 1);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('grants within no rolling stretch more than it says (300 histories)', () => {
    const steps = fc.array(fc.integer({ min: 0, max: HOUR }), { maxLength: 40 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (drawn, maxClaims) => {
        let us = 0;
        const moments = drawn.map((by) => (us += by));
        const answers = claims(terms({ maxClaims, period: { rollingUs: HOUR } }), moments);
        const granted = moments.filter((_, index) => answers[index] === 'granted');
        for (const end of granted) {
          expect(granted.filter((each) => each > end - HOUR && each <= end).length).toBeLessThanOrEqual(maxClaims);
        }
        for (const [index, moment] of moments.entries()) {
          if (answers[index] === 'granted') continue;
          expect(granted.filter((each) => each > moment - HOUR && each <= moment).length).toBe(maxClaims);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('says when the oldest claim leaves a rolling stretch', () => {
    const budget = terms({ period: { rollingUs: HOUR } });
    const usage: Usage = { ...NO_USAGE, rolling: { [String(HOUR)]: [10, 20] } };
    expect(spend(budget, usage, 30, 0, wall)).toEqual({ kind: 'exhausted', used: 2, limit: 2, untilUs: 10 + HOUR });
    expect(spend(budget, usage, 10 + HOUR, 0, wall).kind).toBe('granted');
  });

  it('carries what was left of the period before, once, and no more than it says', () => {
    const budget = terms({ maxClaims: 3, carryOver: 2 });
    const day = (number: number): number => at('2026-07-01T12:00Z') + number * 24 * HOUR;
    // Nothing was claimed before the first day: it has 3 and 2. All of them are used, so the next has 3.
    const moments = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3].map(day);
    const granted = [1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0];
    expect(claims(budget, moments)).toEqual(granted.map((each) => (each === 1 ? 'granted' : 'exhausted')));
  });

  it('counts a claim no more that was released, where it refunds, in its own period alone', () => {
    const budget = terms({ maxClaims: 1, refundsReleases: true });
    const [first, next] = [at('2026-07-01T12:00Z'), at('2026-07-02T12:00Z')];
    const spent = spend(budget, NO_USAGE, first, 0, wall);
    const usage = spent.kind === 'granted' ? spent.usage : NO_USAGE;
    expect(spend(budget, refund(budget, usage, first, first, wall), first, 0, wall).kind).toBe('granted');
    const again = spend(budget, usage, next, 0, wall);
    const later = again.kind === 'granted' ? again.usage : NO_USAGE;
    // What was claimed yesterday frees nothing today.
    expect(spend(budget, refund(budget, later, first, next, wall), next, 0, wall).kind).toBe('exhausted');
    expect(refund({ ...budget, refundsReleases: false }, usage, first, first, wall)).toBe(usage);
  });

  it('lets a recipient rest after a claim, and bounds what it has open', () => {
    const budget = terms({ maxClaims: 9, cooldownAfterClaimUs: 60, maxOpen: 2 });
    const spent = spend(budget, NO_USAGE, 1000, 1, wall);
    const usage = spent.kind === 'granted' ? spent.usage : NO_USAGE;
    expect(spend(budget, usage, 1059, 1, wall)).toEqual({ kind: 'cooling', untilUs: 1060 });
    expect(spend(budget, usage, 1060, 2, wall)).toEqual({ kind: 'open', open: 2, limit: 2 });
    expect(spend(budget, usage, 1060, 1, wall).kind).toBe('granted');
    // Without a budget who has released rests all the same.
    expect(spend(null, cooled(NO_USAGE, 50), 49, 9, wall)).toEqual({ kind: 'cooling', untilUs: 50 });
    expect(spend(null, cooled(NO_USAGE, 50), 50, 9, wall).kind).toBe('granted');
  });
});
