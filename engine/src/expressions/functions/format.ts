/** `text.format(list)`, as in CEL's string extension: %s %d %f %e %b %o %x %X, with a precision for %f and %e. */
import { type Frame, spend, spendOnText } from '../evaluating/frame.js';
import { entriesOfMap } from '../values/compare.js';
import { CelFailure } from '../values/failure.js';
import { formatDuration, formatTimestamp, toDurationNs, toTimestampNs } from '../values/time.js';
import { CelTypeName, CelUint, kindOf } from '../values/values.js';
import { define, listOf, textOf } from './define.js';

const CLAUSE = /%(?:%|(?:\.(\d{1,9}))?([a-zA-Z])?)/g;
const MAX_PRECISION = 100;
const DEFAULT_PRECISION = 6;

/** Steps of writing a timestamp, a duration, or a double with a precision: 1 to 2 us. */
const SLOW_STEPS = 30;

/** format(). */
export const formatFunctions = [
  define(['string.format(list) -> string'], (frame, [template, list]) => format(frame, textOf(template), listOf(list))),
];

function format(frame: Frame, template: string, values: readonly unknown[]): string {
  let next = 0;
  spendOnText(frame, template.length);
  return template.replace(CLAUSE, (clause: string, precision: string | undefined, letter: string | undefined) => {
    if (clause === '%%') return '%';
    if (letter === undefined) throw new CelFailure('a format ends in the middle of a clause', 'Write %% for "%".');
    if (next >= values.length) throw new CelFailure('a format has more clauses than values');
    const digits = precision === undefined ? DEFAULT_PRECISION : Number(precision);
    if (digits > MAX_PRECISION) throw new CelFailure(`a precision is above ${MAX_PRECISION}`);
    const text = formatOne(frame, letter, digits, values[next]);
    next += 1;
    spendOnText(frame, text.length);
    return text;
  });
}

function formatOne(frame: Frame, letter: string, digits: number, value: unknown): string {
  switch (letter) {
    case 's':
      return asText(frame, value);
    case 'd':
      return typeof value === 'number' ? doubleAsText(value) : integerOf(value).toString();
    case 'f':
      spend(frame, SLOW_STEPS);
      return asFixed(value, digits);
    case 'e':
      spend(frame, SLOW_STEPS);
      return asScientific(value, digits);
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : integerOf(value).toString(2);
    case 'o':
      return integerOf(value).toString(8);
    case 'x':
      return asHex(value);
    case 'X':
      return asHex(value).toUpperCase();
    default:
      throw new CelFailure('a format has an unknown clause', 'Use %s, %d, %f, %e, %b, %o, %x or %X.');
  }
}

function asText(frame: Frame, value: unknown): string {
  spend(frame, 1);
  switch (kindOf(value)) {
    case 'double':
      return typeof value === 'number' ? doubleAsText(value) : '';
    case 'uint':
      return value instanceof CelUint ? String(value.value) : '';
    case 'timestamp':
      spend(frame, SLOW_STEPS);
      return formatTimestamp(toTimestampNs(value));
    case 'duration':
      spend(frame, SLOW_STEPS);
      return formatDuration(toDurationNs(value));
    case 'bytes':
      return value instanceof Uint8Array ? new TextDecoder().decode(value) : '';
    case 'type':
      return value instanceof CelTypeName ? value.name : '';
    case 'list':
      return `[${listOf(value)
        .map((item) => asText(frame, item))
        .join(', ')}]`;
    case 'map':
      return mapAsText(frame, value);
    default:
      return String(value);
  }
}

function mapAsText(frame: Frame, map: unknown): string {
  const pairs: [string, string][] = [];
  for (const [key, value] of entriesOfMap(map)) pairs.push([asText(frame, key), asText(frame, value)]);
  pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${pairs.map(([key, value]) => `${key}: ${value}`).join(', ')}}`;
}

function doubleAsText(value: number): string {
  return String(value);
}

function integerOf(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof CelUint) return value.value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw new CelFailure('a format clause needs an integer', 'Convert it: int(x).');
}

function doubleOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || value instanceof CelUint) return Number(integerOf(value));
  throw new CelFailure('a format clause needs a number', 'Convert it: double(x).');
}

/** Fixed decimals, ties to even: toFixed() alone takes them away from zero. */
function asFixed(value: unknown, digits: number): string {
  const number = doubleOf(value);
  if (!Number.isFinite(number)) return doubleAsText(number);
  const sign = number < 0 ? '-' : '';
  const rounded = Math.abs(number).toFixed(digits);
  if (Math.abs(number) >= 1e21) return sign + rounded;
  const exact = Math.abs(number).toFixed(MAX_PRECISION);
  const cut = exact.indexOf('.') + 1 + digits;
  const isTie = digits < MAX_PRECISION && /^5?0*$/.test(exact.slice(cut)) && exact.charAt(cut) === '5';
  const kept = digits === 0 ? exact.slice(0, cut - 1) : exact.slice(0, cut);
  return sign + (isTie && Number(kept.at(-1)) % 2 === 0 ? kept : rounded);
}

function asScientific(value: unknown, digits: number): string {
  const number = doubleOf(value);
  if (!Number.isFinite(number)) return doubleAsText(number);
  return number.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2');
}

function asHex(value: unknown): string {
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return integerOf(value).toString(16);
}
