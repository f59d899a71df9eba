/** Timestamps as text (RFC 3339) and as microseconds since 1970, without the machine's Date: pure code may use it. */

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d\d):(\d\d))$/;
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const US_PER_SECOND = 1_000_000;
const SECONDS_PER_DAY = 86_400;

/** Days from 1970-01-01 in the proleptic Gregorian calendar; algorithm days_from_civil of Howard Hinnant. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function isDate(year: number, month: number, day: number): boolean {
  const days = DAYS_IN_MONTH[month - 1];
  if (days === undefined || day < 1 || day > days) return false;
  return month !== 2 || day !== 29 || isLeapYear(year);
}

/**
 * Microseconds since 1970 of an RFC 3339 timestamp with zone; finer fractions are rounded up, so that nothing ends
 * early. A leap second (:60) is not a timestamp here.
 *
 * @returns undefined when the text is no timestamp, or too far away to be counted exactly (before 1684, after 2255)
 */
export function parseTimestampUs(text: string): number | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const [zoneHour, zoneMinute] = [part(10), part(11)];
  if (!isDate(year, month, day) || hour > 23 || minute > 59 || second > 59) return undefined;
  if (zoneHour > 23 || zoneMinute > 59) return undefined;
  const zoneSeconds = (zoneHour * 3600 + zoneMinute * 60) * (match[9] === '-' ? -1 : 1);
  const seconds = daysFromCivil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - zoneSeconds;
  const nanos = Number((match[7] ?? '').padEnd(9, '0'));
  const us = seconds * US_PER_SECOND + Math.ceil(nanos / 1000);
  return Number.isSafeInteger(us) ? us : undefined;
}
