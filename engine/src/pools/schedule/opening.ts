/** Whether a schedule is open at an instant. Local time is looked up once, compiled windows are compared with it. */
import { parseTimestampUs } from '../../kernel/index.js';
import { DAYS, dayOf, type Schedule } from './schedule.js';
import { localTime } from './zone-offset.js';

/** Minutes since local midnight; `close` above 1440 reaches into the next day. Half open: closed at `close`. */
interface Window {
  readonly open: number;
  readonly close: number;
}

interface Exception {
  readonly fromDay: number;
  readonly toDay: number;
  readonly windows: readonly Window[];
}

/** A schedule made ready to be asked. */
export interface Opening {
  readonly zone: string;
  /** Windows of each weekday, Monday first. */
  readonly week: readonly (readonly Window[])[];
  readonly exceptions: readonly Exception[];
  readonly fromUs: number;
  readonly toUs: number;
}

const MINUTES_PER_DAY = 1440;
const WHOLE_DAY: readonly Window[] = [{ open: 0, close: MINUTES_PER_DAY }];

function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

function windowOf({ open, close }: { readonly open: string; readonly close: string }): Window {
  const [from, to] = [minuteOf(open), minuteOf(close)];
  return { open: from, close: to <= from ? to + MINUTES_PER_DAY : to };
}

function exceptionOf(exception: NonNullable<Schedule['exceptions']>[number]): Exception {
  const fromDay = dayOf(exception.date ?? exception.from ?? '') ?? 0;
  const toDay = dayOf(exception.date ?? exception.to ?? '') ?? 0;
  if (exception.kind === 'closed') return { fromDay, toDay, windows: [] };
  return { fromDay, toDay, windows: exception.windows?.map(windowOf) ?? WHOLE_DAY };
}

/**
 * Compiles a schedule.
 *
 * @param schedule undefined for always open
 * @param zone used when the schedule names none
 * @returns undefined for always open
 */
export function compileOpening(schedule: Schedule | undefined, zone: string): Opening | undefined {
  if (schedule === undefined || Object.keys(schedule).length === 0) return undefined;
  const week = DAYS.map((day) => {
    if (schedule.weekly === undefined) return WHOLE_DAY;
    return schedule.weekly.filter(({ days }) => days.includes(day)).map(windowOf);
  });
  return {
    zone: schedule.timezone ?? zone,
    week,
    exceptions: (schedule.exceptions ?? []).map(exceptionOf),
    fromUs: parseTimestampUs(schedule.effective_from ?? '') ?? Number.NEGATIVE_INFINITY,
    toUs: parseTimestampUs(schedule.effective_to ?? '') ?? Number.POSITIVE_INFINITY,
  };
}

/** Windows of a local date, in days since 1970: the first exception that covers it, else those of its weekday. */
export function windowsOf(opening: Opening, day: number): readonly Window[] {
  const exception = opening.exceptions.find(({ fromDay, toDay }) => fromDay <= day && day <= toDay);
  if (exception !== undefined) return exception.windows;
  // 1970-01-01 was a Thursday, the fourth day of the week.
  return opening.week[(((day + 3) % 7) + 7) % 7] ?? [];
}

/** Whether it is open. Undefined is always open; outside its effective time a schedule closes nothing. */
export function isOpen(opening: Opening | undefined, nowUs: number): boolean {
  if (opening === undefined || nowUs < opening.fromUs || nowUs >= opening.toUs) return true;
  const { day, minute } = localTime(opening.zone, nowUs);
  const isInside = (at: number) => (window: Window) => window.open <= at && at < window.close;
  if (windowsOf(opening, day).some(isInside(minute))) return true;
  return windowsOf(opening, day - 1).some(isInside(minute + MINUTES_PER_DAY));
}
