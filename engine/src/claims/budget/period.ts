/**
 * Periods of budgets by the wall clock of a zone. Instants are mapped to local time, never back: a period is all
 * instants with its number, so that a day with a change of the clock is one period, 23 or 25 hours long, and an hour
 * that comes twice is one of two hours.
 */

/** Kinds of fixed periods. */
export type FixedPeriod = 'hour' | 'day' | 'week' | 'month';

/** Local time in a zone: days since 1970 of the local date, minutes since its midnight. */
export type WallClock = (zone: string, us: number) => { readonly day: number; readonly minute: number };

const MINUTE_US = 60_000_000;
/** No period lasts longer, minutes: the clock may be put back by a few hours meanwhile. */
const LONGEST: Readonly<Record<FixedPeriod, number>> = {
  hour: 4 * 60,
  day: 28 * 60,
  week: 7 * 1440 + 240,
  month: 31 * 1440 + 240,
};

function monthNumber(day: number): number {
  const date = new Date(day * 86_400_000);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Number of the period that an instant belongs to; the next one has the next number. */
export function periodNumber(period: FixedPeriod, zone: string, us: number, wall: WallClock): number {
  const { day, minute } = wall(zone, us);
  switch (period) {
    case 'hour':
      return day * 24 + Math.floor(minute / 60);
    case 'day':
      return day;
    case 'week':
      // 1970-01-01 was a Thursday; weeks begin on Mondays.
      return Math.floor((day + 3) / 7);
    case 'month':
      return monthNumber(day);
  }
}

/** The first minute after an instant that belongs to a later period than `number`. */
export function periodEndUs(period: FixedPeriod, zone: string, us: number, number: number, wall: WallClock): number {
  const minuteOf = (minute: number): number => (Math.floor(us / MINUTE_US) + minute) * MINUTE_US;
  let [before, after] = [0, LONGEST[period]];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (periodNumber(period, zone, minuteOf(middle), wall) > number) after = middle;
    else before = middle;
  }
  return minuteOf(after);
}
