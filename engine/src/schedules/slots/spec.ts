/** When a schedule happens, as data. Checked by check-spec.ts before anything else reads it. */

/** A cron pattern in a zone. */
export interface CronSpec {
  readonly kind: 'cron';
  /** Five fields (minute hour day month weekday), six with seconds in front, or a nickname such as @daily. */
  readonly expression: string;
  /** IANA name: Europe/Berlin. */
  readonly timeZone: string;
}

/** Every so often from 1970-01-01T00:00:00Z plus the offset on: it does not depend on when it was made. */
export interface IntervalSpec {
  readonly kind: 'interval';
  readonly everyMs: number;
  /** 0 to less than everyMs. */
  readonly offsetMs: number;
}

/** Days of a week, Monday first, as ISO 8601 counts them. */
export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** A day of the week. */
export type Weekday = (typeof WEEKDAYS)[number];

/** Days of the calendar, with times of day. A day counts that stands in dates, days of the month or weekdays. */
export interface CalendarSpec {
  readonly kind: 'calendar';
  readonly timeZone: string;
  /** "09:00" or "09:00:30". */
  readonly times: readonly string[];
  /** "2026-12-24". */
  readonly dates: readonly string[];
  /** 1 to 31; -1 is the last day of the month. */
  readonly daysOfMonth: readonly number[];
  readonly weekdays: readonly Weekday[];
  /** 1 to 12: days of the month and weekdays count only in these. Empty: in all. */
  readonly months: readonly number[];
  /** Days that never count. */
  readonly exceptDates: readonly string[];
}

/** When a schedule happens. */
export type SlotSpec = CronSpec | IntervalSpec | CalendarSpec;

/** The moments of a schedule. Pure: the same for the same spec, on every node. */
export interface Slots {
  /** The first slot after an instant; both microseconds since 1970. null: there is none any more. */
  nextAfter(afterUs: number): number | null;
}
