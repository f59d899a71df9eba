import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundedSlots, jitterUs, slotsOf } from './slots.js';
import type { CalendarSpec, SlotSpec } from './spec.js';

const at = (text: string): number => Date.parse(text) * 1_000;
const textOf = (us: number | null): string => (us === null ? 'none' : new Date(us / 1_000).toISOString());
const next = (spec: SlotSpec, after: string): string => textOf(slotsOf(spec).nextAfter(at(after)));

const CALENDAR: CalendarSpec = {
  ...{ kind: 'calendar', timeZone: 'UTC', times: ['09:00'], dates: [] },
  ...{ daysOfMonth: [], weekdays: [], months: [], exceptDates: [] },
};

describe('nextAfter', () => {
  it('is after the instant, never at it', () => {
    const spec: SlotSpec = { kind: 'cron', expression: '0 9 * * *', timeZone: 'UTC' };
    expect(next(spec, '2026-01-01T08:59:59.999Z')).toBe('2026-01-01T09:00:00.000Z');
    expect(next(spec, '2026-01-01T09:00:00.000Z')).toBe('2026-01-02T09:00:00.000Z');
    expect(next(spec, '2026-01-01T09:00:00.001Z')).toBe('2026-01-02T09:00:00.000Z');
    expect(textOf(slotsOf(spec).nextAfter(at('2026-01-01T09:00Z') - 1))).toBe('2026-01-01T09:00:00.000Z');
  });

  it('reads seconds, ranges, names, last days and nicknames', () => {
    const cron = (expression: string): string =>
      next({ kind: 'cron', expression, timeZone: 'UTC' }, '2026-01-30T12:00Z');
    expect(cron('*/10 * * * * *')).toBe('2026-01-30T12:00:10.000Z');
    expect(cron('0 9-17/4 * * MON-FRI')).toBe('2026-01-30T13:00:00.000Z');
    expect(cron('0 0 L * *')).toBe('2026-01-31T00:00:00.000Z');
    expect(cron('@monthly')).toBe('2026-02-01T00:00:00.000Z');
    expect(cron('0 12 * * FRI#2')).toBe('2026-02-13T12:00:00.000Z');
  });

  it('counts intervals from 1970, whatever the schedule was made at', () => {
    const spec: SlotSpec = { kind: 'interval', everyMs: 600_000, offsetMs: 60_000 };
    expect(next(spec, '2026-01-01T00:00:00Z')).toBe('2026-01-01T00:01:00.000Z');
    expect(next(spec, '2026-01-01T00:01:00Z')).toBe('2026-01-01T00:11:00.000Z');
    expect(next(spec, '1969-12-31T23:59:59Z')).toBe('1970-01-01T00:01:00.000Z');
  });

  it('takes the days of a calendar that stand in any of its lists', () => {
    const spec: CalendarSpec = { ...CALENDAR, daysOfMonth: [1, -1], weekdays: ['monday'], dates: ['2026-01-08'] };
    const found: string[] = [];
    for (let us = at('2026-01-01T00:00Z'), n = 0; n < 8; n += 1) {
      us = slotsOf(spec).nextAfter(us) ?? 0;
      found.push(textOf(us).slice(8, 13));
    }
    expect(found).toEqual(['01T09', '05T09', '08T09', '12T09', '19T09', '26T09', '31T09', '01T09']);
  });

  it('leaves out months that are not named, and dates that are excluded', () => {
    const days: CalendarSpec = { ...CALENDAR, daysOfMonth: [24, 25], months: [12], times: ['18:00', '08:00:30'] };
    expect(next(days, '2026-01-01T00:00Z')).toBe('2026-12-24T08:00:30.000Z');
    expect(next(days, '2026-12-24T09:00Z')).toBe('2026-12-24T18:00:00.000Z');
    expect(next({ ...days, exceptDates: ['2026-12-24'] }, '2026-01-01T00:00Z')).toBe('2026-12-25T08:00:30.000Z');
  });

  it('excludes by the date of the zone', () => {
    const spec: CalendarSpec = {
      ...CALENDAR,
      ...{ timeZone: 'Pacific/Auckland', weekdays: ['friday'], exceptDates: ['2026-01-02'] },
    };
    // Friday 09:00 in Auckland is Thursday 20:00Z.
    expect(next(spec, '2026-01-01T00:00Z')).toBe('2026-01-08T20:00:00.000Z');
  });

  it('ends after the last date', () => {
    expect(next({ ...CALENDAR, dates: ['2026-01-08'] }, '2026-01-08T09:00Z')).toBe('none');
  });

  it('goes forward, skips nothing, and does not depend on where it is asked from', () => {
    const specs: readonly SlotSpec[] = [
      { kind: 'cron', expression: '*/7 * * * *', timeZone: 'Australia/Lord_Howe' },
      { kind: 'cron', expression: '30 1,2 * * *', timeZone: 'America/New_York' },
      { kind: 'interval', everyMs: 420_000, offsetMs: 11 },
      { ...CALENDAR, timeZone: 'Europe/Berlin', times: ['02:30', '03:00'], weekdays: ['sunday'] },
    ];
    const instant = fc.integer({ min: at('2025-01-01T00:00Z') / 1_000_000, max: at('2027-12-31T00:00Z') / 1_000_000 });
    fc.assert(
      fc.property(fc.constantFrom(...specs), instant, fc.nat(1_000_000), (spec, seconds, share) => {
        const slots = slotsOf(spec);
        const first = slots.nextAfter(seconds * 1_000_000) ?? 0;
        expect(first).toBeGreaterThan(seconds * 1_000_000);
        const between = seconds * 1_000_000 + Math.floor(((first - seconds * 1_000_000) * share) / 1_000_001);
        expect(slots.nextAfter(between)).toBe(first);
        expect(slots.nextAfter(first) ?? 0).toBeGreaterThan(first);
      }),
      { numRuns: 300 },
    );
  });
});

describe('boundedSlots', () => {
  it('counts the bounds themselves', () => {
    const hourly = slotsOf({ kind: 'interval', everyMs: 3_600_000, offsetMs: 0 });
    const slots = boundedSlots(hourly, at('2026-01-01T10:00Z'), at('2026-01-01T11:00Z'));
    expect(textOf(slots.nextAfter(at('2025-01-01T00:00Z')))).toBe('2026-01-01T10:00:00.000Z');
    expect(textOf(slots.nextAfter(at('2026-01-01T10:00Z')))).toBe('2026-01-01T11:00:00.000Z');
    expect(slots.nextAfter(at('2026-01-01T11:00Z'))).toBeNull();
  });
});

describe('jitterUs', () => {
  it('is the same for a slot always, differs between slots and schedules, and spreads over its whole range', () => {
    const of = (id: string, slot: number): number => jitterUs(id, slot, 60_000);
    expect(of('a', 1)).toBe(of('a', 1));
    const drawn = Array.from({ length: 1_000 }, (_, slot) => of('a', slot));
    expect(new Set(drawn).size).toBeGreaterThan(900);
    expect(Math.min(...drawn)).toBeLessThan(2_000_000);
    expect(Math.max(...drawn)).toBeGreaterThan(58_000_000);
    expect(Math.max(...drawn)).toBeLessThan(60_000_000);
    expect(of('b', 1)).not.toBe(of('a', 1));
    expect(jitterUs('a', 1, 0)).toBe(0);
  });
});
