/**
 * Timestamps and durations in nanoseconds. Civil dates by Howard Hinnant's algorithms
 * (https://howardhinnant.github.io/date_algorithms.html), so that no process time zone plays a part.
 */
import { CelFailure } from './failure.js';
import { CelDuration, CelTimestamp } from './values.js';

const NS_PER_SECOND = 1_000_000_000n;
const NS_PER_MS = 1_000_000n;
const SECONDS_PER_DAY = 86_400;

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z, the bounds of the CEL specification. */
const TIMESTAMP_MIN = -62_135_596_800n * NS_PER_SECOND;
const TIMESTAMP_MAX = 253_402_300_800n * NS_PER_SECOND - 1n;

/** A duration's nanoseconds fit an int, as in the reference implementation: about 292 years. */
const DURATION_LIMIT = 2n ** 63n;

/** Nanoseconds since 1970 of a timestamp. Throws CelFailure. */
export function toTimestampNs(value: unknown): bigint {
  if (value instanceof CelTimestamp) return value.ns;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return BigInt(value.getTime()) * NS_PER_MS;
  throw new CelFailure('a value is not a timestamp', 'Convert it: timestamp(x).');
}

/** Nanoseconds of a duration. Throws CelFailure. */
export function toDurationNs(value: unknown): bigint {
  if (value instanceof CelDuration) return value.ns;
  throw new CelFailure('a value is not a duration', 'Convert it: duration("1h30m").');
}

/** A timestamp within the bounds. Throws CelFailure. */
export function timestampOf(ns: bigint): CelTimestamp {
  if (ns >= TIMESTAMP_MIN && ns <= TIMESTAMP_MAX) return new CelTimestamp(ns);
  throw new CelFailure('a timestamp is outside the years 0001 to 9999');
}

/** A duration within the bounds. Throws CelFailure. */
export function durationOf(ns: bigint): CelDuration {
  if (ns >= -DURATION_LIMIT && ns < DURATION_LIMIT) return new CelDuration(ns);
  throw new CelFailure('a duration is longer than 292 years');
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Reads `2026-03-01T09:00:00Z`, with up to 9 decimals and any offset. Throws CelFailure. */
export function parseTimestamp(text: string): CelTimestamp {
  const parts = text.length > 40 ? null : RFC3339.exec(text);
  if (parts === null) throw badTimestamp();
  const part = (index: number): number => Number(parts[index] ?? '0');
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const [offsetHours, offsetMinutes] = [part(9), part(10)];
  const isReal = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  if (!isReal || hour > 23 || minute > 59 || second > 59 || offsetHours > 23 || offsetMinutes > 59)
    throw badTimestamp();
  const offset = (offsetHours * 3600 + offsetMinutes * 60) * (parts[8] === '-' ? -1 : 1);
  const seconds = daysFromCivil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - offset;
  const nanos = BigInt((parts[7] ?? '').padEnd(9, '0'));
  return timestampOf(BigInt(seconds) * NS_PER_SECOND + nanos);
}

function badTimestamp(): CelFailure {
  return new CelFailure('a text is not an RFC 3339 timestamp', 'Write it like 2026-03-01T09:00:00Z.');
}

/** `2026-03-01T09:00:00.5Z`, with as many decimals as are not zero. */
export function formatTimestamp(ns: bigint): string {
  const { year, month, day, hour, minute, second } = civilFromSeconds(Number(floorSeconds(ns)));
  const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  return `${date}T${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}${formatFraction(nanosOf(ns))}Z`;
}

const NS_PER_UNIT: ReadonlyMap<string, bigint> = new Map([
  ['h', 3600n * NS_PER_SECOND],
  ['m', 60n * NS_PER_SECOND],
  ['s', NS_PER_SECOND],
  ['ms', NS_PER_MS],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ns', 1n],
]);

/** Reads `90s`, `1h30m`, `-1.5h`. Throws CelFailure. */
export function parseDuration(text: string): CelDuration {
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  const body = text.slice(sign.length);
  if (body === '0') return new CelDuration(0n);
  if (body.length > 100 || !/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:h|ms|m|s|us|µs|μs|ns))+$/.test(body)) throw badDuration();
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(/(\d*)(?:\.(\d*))?([a-zµμ]+)/g)) {
    const perUnit = NS_PER_UNIT.get(unit);
    if (perUnit === undefined) throw badDuration();
    total += BigInt(whole === '' ? '0' : whole) * perUnit;
    if (fraction !== '') total += (BigInt(fraction) * perUnit) / 10n ** BigInt(fraction.length);
  }
  return durationOf(sign === '-' ? -total : total);
}

function badDuration(): CelFailure {
  return new CelFailure('a text is not a duration', 'Write it like 1h30m or 1.5s (h, m, s, ms, us, ns).');
}

/** `90s`, `-1.5s`: seconds with as many decimals as are not zero. */
export function formatDuration(ns: bigint): string {
  const absolute = ns < 0n ? -ns : ns;
  const seconds = absolute / NS_PER_SECOND;
  return `${ns < 0n ? '-' : ''}${seconds}${formatFraction(Number(absolute % NS_PER_SECOND))}s`;
}

/** A date and time of day. `weekday` counts from 0 (Sunday), `dayOfYear` from 0. */
export interface Civil {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly weekday: number;
  readonly dayOfYear: number;
}

/** The date and time of day of so many seconds since 1970. */
export function civilFromSeconds(seconds: number): Civil {
  const days = Math.floor(seconds / SECONDS_PER_DAY);
  const rest = seconds - days * SECONDS_PER_DAY;
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const fromMarch = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * fromMarch + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return {
    year,
    month,
    day: fromMarch - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
    hour: Math.floor(rest / 3600),
    minute: Math.floor(rest / 60) % 60,
    second: rest % 60,
    weekday: (((days + 4) % 7) + 7) % 7,
    dayOfYear: days - daysFromCivil(year, 1, 1),
  };
}

/** Days since 1970-01-01 of a date. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const fromMarch = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + fromMarch - 719_468
  );
}

function daysInMonth(year: number, month: number): number {
  const next = month === 12 ? daysFromCivil(year + 1, 1, 1) : daysFromCivil(year, month + 1, 1);
  return next - daysFromCivil(year, month, 1);
}

/** Whole seconds, rounded down. */
export function floorSeconds(ns: bigint): bigint {
  return (ns - BigInt(nanosOf(ns))) / NS_PER_SECOND;
}

/** Nanoseconds past the whole second, 0 to 999,999,999. */
export function nanosOf(ns: bigint): number {
  return Number(((ns % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND);
}

function formatFraction(nanos: number): string {
  return nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
