/** The fields of requests about schedules, read and checked. What times mean is checked by the room. */
import type { CalendarTimes, CreateScheduleRequest, ScheduleChange } from '../../../gen/ductor/v1/schedule.js';
import { CatchUpPolicy as WireCatchUp, OverlapPolicy as WireOverlap } from '../../../gen/ductor/v1/schedule.js';
import type { Timestamp } from '../../../gen/google/protobuf/timestamp.js';
import { parseDurationMs } from '../../../kernel/index.js';
import {
  DEFAULT_CATCH_UP_WINDOW_MS,
  WEEKDAYS,
  type CatchUpPolicy,
  type OverlapPolicy,
  type SlotSpec,
  type Weekday,
} from '../../../schedules/index.js';
import type { FieldChecks } from '../checks/field-checks.js';
import { CATCH_UPS, nameIn, OVERLAPS } from '../wire/schedule.js';
import { usOf } from '../wire/timestamp.js';

/** What both ways of writing a schedule have in common. */
export type ScheduleFields = Pick<CreateScheduleRequest & ScheduleChange, 'times' | 'overlap' | 'catchUp' | 'jitter'>;

const DURATION_REMEDY = 'Write it such as "30s", "5m" or "1h30m".';
/** Most items that a list is read for; the room refuses less. */
const MAX_ITEMS = 1_000;

/** A duration; notes what is none. */
function durationMs(checks: FieldChecks, path: string, text: string, fallback: number): number {
  if (text === '') return fallback;
  const ms = parseDurationMs(text);
  if (ms !== undefined) return ms;
  checks.note(path, text, 'is no duration', DURATION_REMEDY);
  return fallback;
}

function isWeekday(text: string): text is Weekday {
  return WEEKDAYS.some((day) => day === text);
}

function calendarOf(checks: FieldChecks, times: CalendarTimes): SlotSpec {
  const { timeZone, dates, daysOfMonth, months, exceptDates } = times;
  for (const [name, list] of Object.entries({ dates, days_of_month: daysOfMonth, months, except_dates: exceptDates })) {
    if (list.length > MAX_ITEMS) checks.count(`calendar.${name}`, list.length, 0, MAX_ITEMS);
  }
  const weekdays = times.weekdays.slice(0, MAX_ITEMS).map((text) => text.toLowerCase());
  weekdays.forEach((text, index) => {
    if (isWeekday(text)) return;
    checks.note(`calendar.weekdays[${index}]`, text, 'is no day of the week', `Use ${WEEKDAYS.join(', ')}.`);
  });
  return {
    ...{ kind: 'calendar', timeZone, times: times.times, dates, exceptDates },
    ...{ daysOfMonth: [...new Set(daysOfMonth)], months: [...new Set(months)] },
    weekdays: [...new Set(weekdays.filter(isWeekday))],
  };
}

/** The times of a request; notes that there are none. */
export function specOf(checks: FieldChecks, times: ScheduleFields['times']): SlotSpec | undefined {
  switch (times?.$case) {
    case 'cron':
      return { kind: 'cron', ...times.value };
    case 'interval': {
      const { every, offset } = times.value;
      if (every === '') checks.note('interval.every', '', 'is missing', DURATION_REMEDY);
      const everyMs = durationMs(checks, 'interval.every', every, 1_000);
      return { kind: 'interval', everyMs, offsetMs: durationMs(checks, 'interval.offset', offset, 0) };
    }
    case 'calendar':
      return calendarOf(checks, times.value);
    case undefined:
      checks.note(
        'cron',
        '',
        'is missing, and so are interval and calendar',
        'Say when it happens, in one of the three.',
      );
      return undefined;
  }
}

function policies(table: Readonly<Record<string, number>>, names: Readonly<Record<number, string>>): string {
  return Object.values(table)
    .map((number) => names[number])
    .join(', ');
}

/** An overlap policy; notes what is none. @param fallback where it is not said; undefined: it must be */
export function overlapOf(
  checks: FieldChecks,
  overlap: WireOverlap,
  fallback?: OverlapPolicy | null,
): OverlapPolicy | null | undefined {
  if (overlap === WireOverlap.OVERLAP_POLICY_UNSPECIFIED && fallback !== undefined) return fallback;
  const found = nameIn(OVERLAPS, overlap);
  if (found !== undefined) return found;
  const problem = overlap === WireOverlap.OVERLAP_POLICY_UNSPECIFIED ? 'is missing' : 'is no overlap policy';
  checks.note('overlap', String(overlap), problem, `Say one of ${policies(OVERLAPS, WireOverlap)}.`);
  return undefined;
}

/** What to do with missed slots; notes that it is not said. */
export function catchUpOf(
  checks: FieldChecks,
  catchUp: ScheduleFields['catchUp'],
): { readonly catchUp: CatchUpPolicy; readonly catchUpWindowMs: number } | undefined {
  const { policy = WireCatchUp.CATCH_UP_POLICY_UNSPECIFIED, window = '' } = catchUp ?? {};
  const catchUpWindowMs = durationMs(checks, 'catch_up.window', window, DEFAULT_CATCH_UP_WINDOW_MS);
  const found = nameIn(CATCH_UPS, policy);
  if (found !== undefined) return { catchUp: found, catchUpWindowMs };
  const problem = policy === WireCatchUp.CATCH_UP_POLICY_UNSPECIFIED ? 'is missing' : 'is no catch-up policy';
  checks.note('catch_up.policy', String(policy), problem, `Say one of ${policies(CATCH_UPS, WireCatchUp)}.`);
  return undefined;
}

/** The jitter, ms; notes what is no duration. */
export function jitterOf(checks: FieldChecks, jitter: string): number {
  return durationMs(checks, 'jitter', jitter, 0);
}

/** An instant, microseconds since 1970; notes what is none. null: it is not there. */
export function instantOf(checks: FieldChecks, path: string, time: Timestamp | undefined): number | null {
  if (time === undefined) return null;
  const us = usOf(time);
  if (Number.isSafeInteger(us) && us >= 0) return us;
  checks.note(path, String(time.seconds), 'is no time from 1970 to 2255', 'Send a time within these years.');
  return null;
}
