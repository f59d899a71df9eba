/** What is refused before it is sent, with every problem at once. */
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../errors.js';
import * as checks from './schedule-checks.js';
import type { NewSchedule } from './schedule-options.js';

const GOOD = {
  ...{ slug: 's', workflow: 'w', overlap: 'SKIP', catchUp: { policy: 'LATEST', window: '1h' } },
  times: { cron: { expression: '0 2 * * *', timeZone: 'UTC' } },
} as const satisfies NewSchedule;

/** Paths of what is refused; empty: nothing is. */
function refused(check: () => void): readonly string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof DuctorError) || error.code !== 'invalid_argument') throw error;
    return error.details.map(({ path }) => path);
  }
}

/** A schedule as plain JavaScript may pass it. */
const create = (change: object): readonly string[] =>
  refused(() => checks.checkCreate({ ...GOOD, ...change } as NewSchedule));

describe('a schedule to make', () => {
  it('passes where it is whole, in each of the three ways', () => {
    expect(create({})).toEqual([]);
    expect(create({ times: { interval: { every: '1m' } } })).toEqual([]);
    expect(create({ times: { calendar: { timeZone: 'UTC', times: ['09:00'], daysOfMonth: [-1] } } })).toEqual([]);
    expect(create({ workflow: { slug: 'w' }, startsAt: new Date(0), version: 2, attributes: { a: 'b' } })).toEqual([]);
  });

  it.each<[object, readonly string[]]>([
    [{ times: undefined, overlap: undefined, catchUp: undefined }, ['times', 'overlap', 'catch_up']],
    [{ slug: 1, workflow: {} }, ['slug', 'family_slug']],
    [{ times: { cron: '* * * * *' } }, ['times']],
    [{ times: { cron: GOOD.times.cron, interval: { every: '1s' } } }, ['times']],
    [{ times: { cron: { expression: '* * * * *' } } }, ['cron.time_zone']],
    [{ times: { cron: { ...GOOD.times.cron, timezone: 'UTC' } } }, ['cron.timezone']],
    [
      { times: { calendar: { timeZone: 'UTC', times: '09:00', weekdays: [1] } } },
      ['calendar.times', 'calendar.weekdays[0]'],
    ],
    [{ times: { calendar: { timeZone: 'UTC', times: [], daysOfMonth: ['1'] } } }, ['calendar.days_of_month[0]']],
    [{ overlap: 'skip', catchUp: { policy: 'latest' } }, ['overlap', 'catch_up.policy']],
    [{ catchUp: { policy: 'ALL', windows: '1h' } }, ['windows']],
    [{ startsAt: new Date('never'), endsAt: '2026-01-01' }, ['starts_at', 'ends_at']],
    [{ attributes: { a: 1 }, version: 1.5, title: 5 }, ['title', 'version', 'attributes.a']],
    [{ zone: 'UTC' }, ['zone']],
  ])('is refused: %j', (change, paths) => {
    expect(create(change)).toEqual(paths);
  });
});

describe('other calls', () => {
  it('pass where they are whole, and clear with null', () => {
    const cleared = { title: null, endsAt: null, attributes: null, version: null };
    expect(refused(() => checks.checkUpdate('s', cleared))).toEqual([]);
    expect(refused(() => checks.checkBackfill('s', { from: new Date(0), to: new Date(1) }))).toEqual([]);
    expect(refused(() => checks.checkSlotList('s', { pageSize: 1, outcome: 'FAILED' }))).toEqual([]);
    expect(refused(() => checks.checkScheduleList({ cursor: 'c' }))).toEqual([]);
  });

  it('are refused where they are not', () => {
    expect(refused(() => checks.checkUpdate('s', { slug: 'other' } as object))).toEqual(['slug']);
    expect(refused(() => checks.checkBackfill('s', {} as never))).toEqual(['from', 'to']);
    expect(refused(() => checks.checkSlotList('s', { outcome: 'GONE' as 'DUE', pageSize: -1 }))).toEqual([
      'pagination.page_size',
      'outcome',
    ]);
    expect(refused(() => checks.checkScheduleCall(undefined as unknown as string, { reason: '\ud800' }))).toEqual([
      'schedule_id',
      'reason',
    ]);
  });
});
