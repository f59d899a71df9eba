/** Offsets of time zones, by the zone data of the runtime. */
import { CelFailure } from './failure.js';
import { daysFromCivil } from './time.js';

const FIXED = /^([+-]?)(\d\d):(\d\d)$/;

/** Formatters cost about 50 us to make; names come out of data, so their number is bounded. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const FORMATTERS_KEPT = 64;

/**
 * Seconds east of UTC at an instant.
 * @param zone `UTC`, `+05:30` or a name such as `Europe/Berlin`
 * @param seconds since 1970
 * @throws CelFailure for a zone that does not exist
 */
export function offsetOf(zone: string, seconds: number): number {
  if (zone === 'UTC' || zone === 'Z') return 0;
  const fixed = FIXED.exec(zone);
  if (fixed !== null) return (Number(fixed[2]) * 3600 + Number(fixed[3]) * 60) * (fixed[1] === '-' ? -1 : 1);
  const parts = new Map(
    formatterOf(zone)
      .formatToParts(seconds * 1000)
      .map((part) => [part.type, Number(part.value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const days = daysFromCivil(part('year'), part('month'), part('day'));
  return days * 86_400 + part('hour') * 3600 + part('minute') * 60 + part('second') - seconds;
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = makeFormatter(zone);
  if (formatters.size >= FORMATTERS_KEPT) formatters.clear();
  formatters.set(zone, made);
  return made;
}

function makeFormatter(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    throw new CelFailure('there is no such time zone', 'Use UTC, +05:30 or a name such as Europe/Berlin.');
  }
}
