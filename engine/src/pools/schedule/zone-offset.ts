/** Offsets of time zones, by the zone data of the runtime. */

/** Making a formatter costs about 50 us, asking one 2 us; names come out of data, so their number is bounded. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const FORMATTERS_KEPT = 256;

function makeFormatter(zone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  } catch {
    return undefined;
  }
}

function formatterOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = makeFormatter(zone);
  if (made === undefined) return undefined;
  if (formatters.size >= FORMATTERS_KEPT) formatters.clear();
  formatters.set(zone, made);
  return made;
}

/** Whether the runtime knows a zone of this name (IANA, such as `America/Chicago`). Fixed offsets are not names. */
export function isTimeZone(zone: string): boolean {
  return /^[A-Za-z]/.test(zone) && formatterOf(zone) !== undefined;
}

/** The wall clock of a zone. */
export interface LocalTime {
  /** Days since 1970-01-01 of the local date. */
  readonly day: number;
  /** Minutes since local midnight, 0 to 1439. */
  readonly minute: number;
  /** Seconds within the minute. */
  readonly second: number;
}

const SECONDS_PER_DAY = 86_400;
const MS_PER_DAY = SECONDS_PER_DAY * 1000;

function fromUtcSeconds(seconds: number): LocalTime {
  const day = Math.floor(seconds / SECONDS_PER_DAY);
  const left = seconds - day * SECONDS_PER_DAY;
  return { day, minute: Math.floor(left / 60), second: left % 60 };
}

/**
 * Local time at an instant, always in this direction: mapping wall clocks to instants has gaps and overlaps.
 *
 * @param zone a name that isTimeZone accepts; others count as UTC
 * @param nowUs microseconds since 1970
 */
export function localTime(zone: string, nowUs: number): LocalTime {
  const seconds = Math.floor(nowUs / 1_000_000);
  const formatter = zone === 'UTC' ? undefined : formatterOf(zone);
  if (formatter === undefined) return fromUtcSeconds(seconds);
  // "03/29/2026, 02:00:00": to ask for its parts costs five times as much.
  const text = formatter.format(seconds * 1000);
  const comma = text.indexOf(',');
  const part = (from: number, to: number): number => Number(text.slice(from, to));
  const day = Math.floor(Date.UTC(part(6, comma), part(0, 2) - 1, part(3, 5)) / MS_PER_DAY);
  return {
    day,
    minute: part(comma + 2, comma + 4) * 60 + part(comma + 5, comma + 7),
    second: part(comma + 8, comma + 10),
  };
}
