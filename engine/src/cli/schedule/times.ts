/** When a schedule happens, as options say it. */
import type { CreateScheduleRequest } from '../../gen/ductor/v1/schedule.js';
import { DuctorError } from '../../kernel/index.js';

/** Options that say it. */
export interface TimesOptions {
  readonly cron?: string;
  readonly every?: string;
  readonly offset?: string;
  /** Times of day, by commas. */
  readonly at?: string;
  /** Days, by commas. */
  readonly on?: string;
  readonly except?: string;
  readonly zone?: string;
}

const LAST_DAY = -1;
const DATE = /^\d{4}-\d\d-\d\d$/;

function refuse(message: string, remedy: string): never {
  throw new DuctorError('invalid_argument', message, { remedy });
}

function items(text = ''): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function dayOfMonth(text: string): number | undefined {
  if (text === 'last') return LAST_DAY;
  return /^\d{1,2}$/.test(text) ? Number(text) : undefined;
}

/** The times of a request. Throws invalid_argument unless the options say exactly one of three things. */
export function timesOf(options: TimesOptions): CreateScheduleRequest['times'] {
  const { cron, every, at, on, zone: timeZone = 'UTC' } = options;
  const said = [cron, every, at].filter((option) => option !== undefined);
  if (said.length !== 1) {
    refuse('a schedule happens by --cron, by --every, or by --at with --on: one of the three', 'Say one of them.');
  }
  if (cron !== undefined) return { $case: 'cron', value: { expression: cron, timeZone } };
  if (every !== undefined) {
    if (options.zone !== undefined) refuse('--every knows no --zone', 'Leave it out: an interval counts real time.');
    return { $case: 'interval', value: { every, offset: options.offset ?? '' } };
  }
  const days = items(on);
  const numbers = days.map(dayOfMonth);
  return {
    $case: 'calendar',
    value: {
      ...{ timeZone, times: items(at), months: [], exceptDates: items(options.except) },
      dates: days.filter((day) => DATE.test(day)),
      daysOfMonth: numbers.filter((day) => day !== undefined),
      weekdays: days.filter((day, index) => !DATE.test(day) && numbers[index] === undefined),
    },
  };
}
