/** Both edges of summer time in four zones: fixed times, times that count real time, calendars. */
import { describe, expect, it } from 'vitest';
import { slotsOf } from './slots.js';
import type { SlotSpec } from './spec.js';

/** So many slots after an instant, as UTC to the minute. */
function slots(spec: SlotSpec, after: string, count: number): readonly string[] {
  const found: string[] = [];
  let atUs: number | null = Date.parse(after) * 1_000;
  for (let n = 0; n < count; n += 1) {
    atUs = slotsOf(spec).nextAfter(atUs);
    if (atUs === null) break;
    found.push(new Date(atUs / 1_000).toISOString().slice(5, 16));
  }
  return found;
}

const cron = (expression: string, timeZone: string): SlotSpec => ({ kind: 'cron', expression, timeZone });

function daily(time: string, timeZone: string): SlotSpec {
  const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
  const none = { dates: [], daysOfMonth: [], months: [], exceptDates: [] };
  return { kind: 'calendar', timeZone, times: [time], weekdays, ...none };
}

interface Edge {
  readonly zone: string;
  /** Local time of day that the edge skips or repeats. */
  readonly time: string;
  /** An instant on the day before. */
  readonly after: string;
  /** The slot before the edge, the one at it, the one after it. */
  readonly slots: readonly string[];
}

const GAPS: readonly Edge[] = [
  // 02:00 EST becomes 03:00 EDT at 07:00Z.
  {
    zone: 'America/New_York',
    time: '02:30',
    after: '2026-03-07T00:00Z',
    slots: ['03-07T07:30', '03-08T07:00', '03-09T06:30'],
  },
  // 02:00 CET becomes 03:00 CEST at 01:00Z.
  {
    zone: 'Europe/Berlin',
    time: '02:30',
    after: '2026-03-28T00:00Z',
    slots: ['03-28T01:30', '03-29T01:00', '03-30T00:30'],
  },
  // 02:00 +10:30 becomes 02:30 +11:00 at 15:30Z: half an hour.
  {
    zone: 'Australia/Lord_Howe',
    time: '02:15',
    after: '2026-10-02T00:00Z',
    slots: ['10-02T15:45', '10-03T15:30', '10-04T15:15'],
  },
  // Midnight itself is skipped: 00:00 -04 becomes 01:00 -03 at 04:00Z.
  {
    zone: 'America/Santiago',
    time: '00:00',
    after: '2026-09-05T00:00Z',
    slots: ['09-05T04:00', '09-06T04:00', '09-07T03:00'],
  },
];

const OVERLAPS: readonly Edge[] = [
  {
    zone: 'America/New_York',
    time: '01:30',
    after: '2026-10-31T00:00Z',
    slots: ['10-31T05:30', '11-01T05:30', '11-02T06:30'],
  },
  {
    zone: 'Europe/Berlin',
    time: '02:30',
    after: '2026-10-24T00:00Z',
    slots: ['10-24T00:30', '10-25T00:30', '10-26T01:30'],
  },
  // 02:00 +11:00 becomes 01:30 +10:30 at 15:00Z: 01:45 comes at 14:45Z and again at 15:15Z.
  {
    zone: 'Australia/Lord_Howe',
    time: '01:45',
    after: '2026-04-03T00:00Z',
    slots: ['04-03T14:45', '04-04T14:45', '04-05T15:15'],
  },
  // 24:00 -03 becomes 23:00 -04 at 03:00Z: 23:30 of that Saturday comes at 02:30Z and again at 03:30Z.
  {
    zone: 'America/Santiago',
    time: '23:30',
    after: '2026-04-04T00:00Z',
    slots: ['04-04T02:30', '04-05T02:30', '04-06T03:30'],
  },
];

function pattern(time: string): string {
  const [hour, minute] = time.split(':').map(Number);
  return `${minute} ${hour} * * *`;
}

describe('a time of day', () => {
  it.each(GAPS)('that $zone skips ($time) happens once, at the first moment after the gap', (edge) => {
    expect(slots(cron(pattern(edge.time), edge.zone), edge.after, 3)).toEqual(edge.slots);
    expect(slots(daily(edge.time, edge.zone), edge.after, 3)).toEqual(edge.slots);
  });

  it.each(OVERLAPS)('that $zone repeats ($time) happens once, the first time', (edge) => {
    expect(slots(cron(pattern(edge.time), edge.zone), edge.after, 3)).toEqual(edge.slots);
    expect(slots(daily(edge.time, edge.zone), edge.after, 3)).toEqual(edge.slots);
  });

  it('of a list happens once, too, and two that a gap moves to one moment are one slot', () => {
    const after = '2026-03-08T00:00Z';
    expect(slots(cron('0,30 2 * * *', 'America/New_York'), after, 3)).toEqual([
      '03-08T07:00',
      '03-09T06:00',
      '03-09T06:30',
    ]);
    expect(slots(cron('0,30 1 * * *', 'America/New_York'), '2026-11-01T00:00Z', 3)).toEqual([
      '11-01T05:00',
      '11-01T05:30',
      '11-02T06:00',
    ]);
  });

  it('of one date that a gap skips happens at the first moment after it', () => {
    const spec: SlotSpec = {
      ...{ kind: 'calendar', timeZone: 'Europe/Berlin', times: ['02:30'], dates: ['2026-03-29'] },
      ...{ daysOfMonth: [], weekdays: [], months: [], exceptDates: [] },
    };
    expect(slots(spec, '2026-01-01T00:00Z', 3)).toEqual(['03-29T01:00']);
  });
});

describe('a pattern with a wildcard', () => {
  const quarters = (zone: string, after: string, count: number): readonly string[] =>
    slots(cron('*/15 * * * *', zone), after, count);

  it.each([
    ['America/New_York', '2026-03-08T06:30Z', ['03-08T06:45', '03-08T07:00', '03-08T07:15']],
    ['America/New_York', '2026-11-01T05:30Z', ['11-01T05:45', '11-01T06:00', '11-01T06:15']],
    ['Europe/Berlin', '2026-03-29T00:30Z', ['03-29T00:45', '03-29T01:00', '03-29T01:15']],
    ['Europe/Berlin', '2026-10-25T00:30Z', ['10-25T00:45', '10-25T01:00', '10-25T01:15']],
    ['Australia/Lord_Howe', '2026-10-03T15:10Z', ['10-03T15:15', '10-03T15:30', '10-03T15:45']],
    ['Australia/Lord_Howe', '2026-04-04T14:40Z', ['04-04T14:45', '04-04T15:00', '04-04T15:15']],
    ['America/Santiago', '2026-09-06T03:40Z', ['09-06T03:45', '09-06T04:00', '09-06T04:15']],
    ['America/Santiago', '2026-04-05T02:40Z', ['04-05T02:45', '04-05T03:00', '04-05T03:15']],
  ])('goes on through the edge of %s at %s', (zone, after, expected) => {
    expect(quarters(zone, after, 3)).toEqual(expected);
  });

  it('happens in both hours of a repeated one, and not in a skipped one', () => {
    expect(slots(cron('*/30 1 * * *', 'America/New_York'), '2026-11-01T00:00Z', 5)).toEqual([
      '11-01T05:00',
      '11-01T05:30',
      '11-01T06:00',
      '11-01T06:30',
      '11-02T06:00',
    ]);
    expect(slots(cron('*/30 2 * * *', 'America/New_York'), '2026-03-08T00:00Z', 2)).toEqual([
      '03-09T06:00',
      '03-09T06:30',
    ]);
  });
});

describe('an interval', () => {
  it('knows no zone: it goes on through every edge', () => {
    const hourly: SlotSpec = { kind: 'interval', everyMs: 3_600_000, offsetMs: 900_000 };
    expect(slots(hourly, '2026-03-08T06:30Z', 2)).toEqual(['03-08T07:15', '03-08T08:15']);
  });
});
