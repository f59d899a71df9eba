import { describe, expect, it } from 'vitest';
import { specProblems } from './check-spec.js';
import type { CalendarSpec, SlotSpec } from './spec.js';

const NOW = Date.parse('2026-06-01T00:00Z') * 1_000;
const said = (spec: SlotSpec): readonly string[] =>
  specProblems(spec, NOW).map(({ path, problem }) => `${path} ${problem}`);
const cron = (expression: string, timeZone = 'UTC'): SlotSpec => ({ kind: 'cron', expression, timeZone });
const CALENDAR: CalendarSpec = {
  ...{ kind: 'calendar', timeZone: 'UTC', times: ['09:00'], dates: [] },
  ...{ daysOfMonth: [1], weekdays: [], months: [], exceptDates: [] },
};

describe('specProblems', () => {
  it.each<[string, SlotSpec]>([
    ['a pattern', cron('*/5 9-17 * * MON-FRI', 'Europe/Berlin')],
    ['a nickname', cron('@daily')],
    ['a leap day', cron('0 0 29 2 *')],
    ['an interval', { kind: 'interval', everyMs: 1_000, offsetMs: 0 }],
    ['a calendar', CALENDAR],
  ])('finds nothing wrong with %s', (_name, spec) => {
    expect(specProblems(spec, NOW)).toEqual([]);
  });

  it.each<[string, string]>([
    ['', 'cron.expression is empty'],
    ['* * * *', 'cron.expression is no cron pattern'],
    ['61 * * * *', 'cron.expression is no cron pattern: invalid value for minute: 61'],
    ['0 0 * * * * 2026', 'cron.expression is no cron pattern'],
    ['2026-01-01T00:00:00', 'cron.expression is no cron pattern'],
    ['@reboot', 'cron.expression is no cron pattern'],
    ['0 0 31 2 *', 'cron.expression never comes: there is no such day'],
    ['*'.repeat(300), 'cron.expression has 300 characters, at most 256 are allowed'],
  ])('refuses the pattern %j', (expression, problem) => {
    expect(said(cron(expression))).toEqual([expect.stringContaining(problem)]);
  });

  it.each<[string, string]>([
    ['', 'is missing'],
    ['Mars/Base', 'is no time zone that this engine knows'],
    ['+02:00', 'is no name of a time zone'],
  ])('refuses the zone %j', (timeZone, problem) => {
    expect(said(cron('@daily', timeZone))).toEqual([`cron.time_zone ${problem}`]);
  });

  it('refuses intervals out of bounds', () => {
    const of = (everyMs: number, offsetMs: number): readonly string[] => said({ kind: 'interval', everyMs, offsetMs });
    expect(of(999, 0)).toEqual(['interval.every must be 1s to 3650d']);
    expect(of(60_000, 60_000)).toEqual(['interval.offset must be less than every']);
  });

  it('says everything that is wrong with a calendar', () => {
    const spec: CalendarSpec = {
      ...CALENDAR,
      ...{ times: ['9:00', '24:00'], dates: ['2026-02-29'], daysOfMonth: [0, 32], months: [13], timeZone: 'X' },
    };
    expect(said(spec)).toEqual([
      'calendar.time_zone is no time zone that this engine knows',
      'calendar.times[0] is no time of day',
      'calendar.times[1] is no time of day',
      'calendar.dates[0] is no date',
      'calendar.days_of_month[0] is no day of a month',
      'calendar.days_of_month[1] is no day of a month',
      'calendar.months[0] is no month',
    ]);
  });

  it('refuses a calendar without days, without times, or with nothing to come', () => {
    expect(said({ ...CALENDAR, daysOfMonth: [], times: [] })).toEqual([
      'calendar.times is empty',
      'calendar names no days',
    ]);
    expect(said({ ...CALENDAR, daysOfMonth: [], dates: ['2026-05-31'] })).toEqual([
      'calendar has no slot in the future',
    ]);
    expect(said({ ...CALENDAR, daysOfMonth: [31], months: [2] })).toEqual(['calendar has no slot in the future']);
  });
});
