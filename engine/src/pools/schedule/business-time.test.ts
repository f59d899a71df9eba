/**
 * Business time against an oracle that knows nothing of it: every minute is looked at by itself, its local time as the
 * runtime prints it. By default the minutes of some weeks around each change of an offset, and of others between; with
 * DUCTOR_EVERY_MINUTE=1 every minute of 5 zones in 3 years.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterOpenUs, openUsBetween } from './business-time.js';
import { nextOpenUs } from './next-open.js';
import { compileOpening, isOpen, type Opening } from './opening.js';
import { dayOf, scheduleField, type Schedule } from './schedule.js';

const MINUTE = 60_000_000;
const DAY = 1440 * MINUTE;
const WEEK_MINUTES = 7 * 1440;
const IS_FULL = process.env['DUCTOR_EVERY_MINUTE'] === '1';
const YEARS = [2024, 2027] as const;

const CLOSED_DAYS: NonNullable<Schedule['exceptions']> = [
  { date: '2024-02-29', kind: 'closed', name: 'leap day' },
  { from: '2025-12-24', to: '2026-01-01', kind: 'closed' },
  { date: '2026-03-29', kind: 'open', windows: [{ open: '00:30', close: '04:30' }] },
];

/** By zone: hours that meet its changes of offset. */
const SCHEDULES: Readonly<Record<string, Schedule>> = {
  'America/New_York': {
    weekly: [
      { days: ['mon', 'tue', 'wed', 'thu', 'fri'], open: '09:00', close: '17:00' },
      { days: ['sun'], open: '01:00', close: '04:00' },
    ],
    exceptions: [...CLOSED_DAYS],
  },
  'Europe/Berlin': {
    weekly: [
      { days: ['sat', 'sun'], open: '22:00', close: '03:00' },
      { days: ['sun'], open: '02:30', close: '02:45' },
      { days: ['mon', 'wed'], open: '08:15', close: '24:00' },
    ],
    exceptions: [...CLOSED_DAYS],
  },
  'Australia/Lord_Howe': { weekly: [{ days: ['sat', 'sun', 'tue'], open: '01:00', close: '04:00' }] },
  'Asia/Kathmandu': { weekly: [{ days: ['mon', 'thu'], open: '10:05', close: '10:05' }] },
  'Africa/Casablanca': {
    weekly: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], open: '01:30', close: '03:30' }],
    effective_from: '2024-06-01T00:00:00Z',
    effective_to: '2026-09-01T12:00:00Z',
  },
};

const NAMES = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** Whether a minute is open, in words of its own: by what the runtime prints, without arithmetic on offsets. */
function oracle(schedule: Schedule, zone: string): (us: number) => boolean {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit', weekday: 'short' },
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  });
  const printed = /(\d{4}-\d\d-\d\d).*?(\d\d:\d\d)/;
  const windows = (date: string): readonly { readonly open: string; readonly close: string }[] => {
    const exception = schedule.exceptions?.find((each) => {
      const [from, to] = [each.date ?? each.from ?? '', each.date ?? each.to ?? ''];
      return from <= date && date <= to;
    });
    if (exception !== undefined) return exception.kind === 'closed' ? [] : (exception.windows ?? []);
    const weekday = NAMES[((dayOf(date) ?? 0) + 3) % 7]?.toLowerCase();
    return (schedule.weekly ?? []).filter(({ days }) => days.some((day) => day === weekday));
  };
  const before = (date: string): string => new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
  const known = new Map<string, readonly [today: ReturnType<typeof windows>, yesterday: ReturnType<typeof windows>]>();
  const of = (date: string) => {
    const found = known.get(date) ?? ([windows(date), windows(before(date))] as const);
    known.set(date, found);
    return found;
  };
  const from = Date.parse(schedule.effective_from ?? '0000-01-01T00:00:00Z') * 1000;
  const to = Date.parse(schedule.effective_to ?? '9999-01-01T00:00:00Z') * 1000;
  return (us) => {
    if (us < from || us >= to) return true;
    const [, date = '', time = ''] = printed.exec(format.format(us / 1000)) ?? [];
    const [today, yesterday] = of(date);
    // "HH:MM" compares as text; a close at or before its open reaches into the next day.
    return (
      today.some(({ open, close }) => open <= time && (close <= open || time < close)) ||
      yesterday.some(({ open, close }) => close <= open && time < close)
    );
  };
}

interface Stretch {
  readonly fromUs: number;
  readonly minutes: number;
}

/** Offset of a zone in minutes, as the runtime prints it. */
function printedOffset(zone: string): (us: number) => string {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset', hour: 'numeric' });
  return (us) => format.format(us / 1000).split('GMT')[1] ?? '';
}

/** What is looked at: all of it, or a week around each change of offset or effective time, and one week of every 20. */
function stretches(zone: string, schedule: Schedule): readonly Stretch[] {
  const [start, end] = YEARS.map((year) => Date.UTC(year, 0, 1) * 1000) as [number, number];
  if (IS_FULL) return [{ fromUs: start, minutes: (end - start) / MINUTE }];
  const offset = printedOffset(zone);
  const edges = [schedule.effective_from, schedule.effective_to].map((edge) => Date.parse(edge ?? '') * 1000);
  const found: Stretch[] = [];
  for (let [us, week] = [start, 0]; us < end; us += WEEK_MINUTES * MINUTE, week += 1) {
    const isChanging = offset(us) !== offset(us + WEEK_MINUTES * MINUTE);
    const isEdge = edges.some((edge) => edge >= us && edge < us + WEEK_MINUTES * MINUTE);
    if (isChanging || isEdge || week % 20 === 0) found.push({ fromUs: us, minutes: WEEK_MINUTES });
  }
  return found;
}

/** Looks at each minute of a stretch; returns how many there were. */
function compare(hours: Opening | undefined, isOpenBy: (us: number) => boolean, { fromUs, minutes }: Stretch): number {
  const step = IS_FULL ? 997 : 101;
  let [open, mark, markOpen] = [0, 0, 0];
  let opensNext: number | undefined;
  for (let minute = 0; minute < minutes; minute += 1) {
    const us = fromUs + minute * MINUTE;
    const isNow = isOpenBy(us);
    if (isOpen(hours, us) !== isNow) expect([new Date(us / 1000).toISOString(), !isNow]).toEqual(['', isNow]);
    if (opensNext !== undefined && isNow) {
      expect(us).toBe(opensNext);
      opensNext = undefined;
    }
    if (minute % step === 0) {
      expect(openUsBetween(hours, fromUs, us)).toBe(open * MINUTE);
      expect(openUsBetween(hours, fromUs + mark * MINUTE, us)).toBe((open - markOpen) * MINUTE);
      if (isNow) expect(afterOpenUs(hours, fromUs, open * MINUTE + 1)).toBe(us + 1);
      else opensNext ??= nextOpenUs(hours, us);
      [mark, markOpen] = [minute, open];
    }
    if (isNow) open += 1;
  }
  return minutes;
}

describe('business time', () => {
  it.each(Object.entries(SCHEDULES))(
    'in %s is what every minute by itself says',
    (zone, schedule) => {
      const hours = compileOpening(scheduleField.parse(schedule), zone);
      const isOpenBy = oracle(schedule, zone);
      const seen = stretches(zone, schedule).reduce((sum, each) => sum + compare(hours, isOpenBy, each), 0);
      expect(seen).toBeGreaterThanOrEqual(IS_FULL ? 1_578_240 : 8 * WEEK_MINUTES);
    },
    20 * 60_000,
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
