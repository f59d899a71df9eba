/** Says everything that is wrong with a spec. */
import type { Problem } from '../../kernel/index.js';
import { cronProblem, zoneProblem } from './cron.js';
import { slotsOf } from './slots.js';
import { WEEKDAYS, type CalendarSpec, type SlotSpec } from './spec.js';

/** Bounds of specs. */
const SPEC_LIMITS = {
  /** Shortest and longest interval, ms. */
  everyMs: { min: 1_000, max: 3_650 * 86_400_000 },
  /** Explicit dates, and dates excluded. */
  dates: 366,
  /** Times of day. */
  times: 48,
} as const;

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/;
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const ZONE_REMEDY = 'Name a zone of the IANA list, such as Europe/Berlin, or UTC.';

type Note = (path: string, value: string, problem: string, remedy: string) => void;

function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return year >= 1970 && day >= 1 && day <= (DAYS_IN_MONTH[month - 1] ?? 0) && (month !== 2 || day < 29 || isLeap);
}

function checkZone(note: Note, path: string, timeZone: string): void {
  const problem = zoneProblem(timeZone);
  if (problem !== undefined) note(`${path}.time_zone`, timeZone, problem, ZONE_REMEDY);
}

function checkDates(note: Note, path: string, dates: readonly string[]): void {
  if (dates.length > SPEC_LIMITS.dates) {
    note(path, String(dates.length), `has more than ${SPEC_LIMITS.dates} dates`, 'Use several schedules.');
    return;
  }
  dates.forEach((date, index) => {
    if (!isDate(date)) note(`${path}[${index}]`, date, 'is no date', 'Write it as 2026-12-24.');
  });
}

function checkDays(note: Note, path: string, spec: CalendarSpec): void {
  spec.daysOfMonth.forEach((day, index) => {
    if (day === -1 || (Number.isInteger(day) && day >= 1 && day <= 31)) return;
    note(
      `${path}.days_of_month[${index}]`,
      String(day),
      'is no day of a month',
      'Use 1 to 31, or -1 for the last day.',
    );
  });
  spec.weekdays.forEach((day, index) => {
    if (WEEKDAYS.includes(day)) return;
    note(`${path}.weekdays[${index}]`, day, 'is no day of the week', `Use ${WEEKDAYS.join(', ')}.`);
  });
  spec.months.forEach((month, index) => {
    if (Number.isInteger(month) && month >= 1 && month <= 12) return;
    note(`${path}.months[${index}]`, String(month), 'is no month', 'Use 1 to 12.');
  });
}

function checkCalendar(note: Note, path: string, spec: CalendarSpec): void {
  checkZone(note, path, spec.timeZone);
  const { times, dates, daysOfMonth, weekdays } = spec;
  if (times.length === 0) note(`${path}.times`, '', 'is empty', 'Name at least one time of day, such as "09:00".');
  if (times.length > SPEC_LIMITS.times) {
    note(`${path}.times`, String(times.length), `has more than ${SPEC_LIMITS.times} times`, 'Use cron or interval.');
  }
  times.slice(0, SPEC_LIMITS.times).forEach((time, index) => {
    if (!TIME.test(time)) note(`${path}.times[${index}]`, time, 'is no time of day', 'Write it as 09:00 or 09:00:30.');
  });
  checkDates(note, `${path}.dates`, dates);
  checkDates(note, `${path}.except_dates`, spec.exceptDates);
  checkDays(note, path, spec);
  if (dates.length + daysOfMonth.length + weekdays.length === 0) {
    note(path, '', 'names no days', 'Name dates, days_of_month or weekdays.');
  }
}

function checkInterval(note: Note, path: string, everyMs: number, offsetMs: number): void {
  const { min, max } = SPEC_LIMITS.everyMs;
  if (!(everyMs >= min && everyMs <= max)) {
    note(`${path}.every`, `${everyMs}ms`, 'must be 1s to 3650d', 'Stay within the bounds.');
  } else if (!(offsetMs >= 0 && offsetMs < everyMs)) {
    note(`${path}.offset`, `${offsetMs}ms`, 'must be less than every', 'Shorten the offset.');
  }
}

/**
 * Everything that is wrong with a spec; empty when it is fine.
 *
 * @param fromUs a calendar or cron that has no slot after this instant is a problem, too
 */
export function specProblems(spec: SlotSpec, fromUs: number): readonly Problem[] {
  const problems: Problem[] = [];
  const note: Note = (path, value, problem, remedy) =>
    void problems.push({ path, value: value.slice(0, 200), problem, remedy });
  const path: string = spec.kind;
  if (spec.kind === 'cron') {
    const problem = cronProblem(spec.expression);
    if (problem !== undefined) {
      const remedy = 'Write minute hour day month weekday, such as "0 9 * * MON-FRI"; seconds may stand in front.';
      note('cron.expression', spec.expression, problem, remedy);
    }
    checkZone(note, path, spec.timeZone);
  } else if (spec.kind === 'interval') checkInterval(note, path, spec.everyMs, spec.offsetMs);
  else checkCalendar(note, path, spec);
  if (problems.length === 0 && slotsOf(spec).nextAfter(fromUs) === null) {
    note(path, '', 'has no slot in the future', 'Name days that are to come.');
  }
  return problems;
}
