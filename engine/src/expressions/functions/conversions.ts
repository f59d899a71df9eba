/** Conversions between kinds of value, and what asks a value for its kind or size. */
import { type Frame, spend, spendOnText } from '../evaluating/frame.js';
import { sizeOfMap } from '../values/compare.js';
import { CelFailure } from '../values/failure.js';
import { toInt, toUint } from '../values/numbers.js';
import {
  durationOf,
  floorSeconds,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  timestampOf,
  toDurationNs,
  toTimestampNs,
} from '../values/time.js';
import { CelTypeName, CelUint, type Kind, kindOf } from '../values/values.js';
import { type CelFunction, define, mismatch } from './define.js';
import { countCodePoints } from './strings.js';

const NS_PER_SECOND = 1_000_000_000n;

/** Names of types as `type(x)` yields them; they are also names an expression may use. */
export const TYPE_NAMES: Readonly<Record<Kind, string>> = {
  null: 'null_type',
  bool: 'bool',
  int: 'int',
  uint: 'uint',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
  list: 'list',
  map: 'map',
  type: 'type',
};

/** Steps of reading a timestamp or a duration, or of writing one: about 2 us. */
const PARSING_STEPS = 30;

/** Steps of a call to the encoder or decoder, whatever the length: about 0.5 us. */
const ENCODING_STEPS = 10;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const TRUE = new Set(['1', 't', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'false', 'FALSE', 'False']);

function noConversion(to: string): CelFailure {
  return new CelFailure(`a value cannot be converted to ${to}`, 'Look at the value, or guard the conversion.');
}

function toBool(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') throw noConversion('a bool');
  if (TRUE.has(value)) return true;
  if (FALSE.has(value)) return false;
  throw noConversion('a bool');
}

/** The double cut to a whole number that fits 64 bits; the bounds themselves are refused, as in the reference. */
function wholePart(value: number, low: number, high: number): bigint {
  if (value > low && value < high) return BigInt(Math.trunc(value));
  throw new CelFailure('a double is out of 64 bits', 'Guard the conversion: x < 9e18.');
}

function convertToInt(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return wholePart(value, -(2 ** 63), 2 ** 63);
  if (value instanceof CelUint) return toInt(value.value);
  if (typeof value === 'string') return toInt(digits(value, /^[+-]?\d{1,25}$/, 'an int'));
  if (kindOf(value) === 'timestamp') return floorSeconds(toTimestampNs(value));
  throw noConversion('an int');
}

function convertToUint(value: unknown): CelUint {
  if (value instanceof CelUint) return value;
  if (typeof value === 'bigint') return toUint(value);
  if (typeof value === 'number') return toUint(wholePart(value, -1, 2 ** 64));
  if (typeof value === 'string') return toUint(digits(value, /^\d{1,25}$/, 'a uint'));
  throw noConversion('a uint');
}

function digits(text: string, pattern: RegExp, to: string): bigint {
  if (pattern.test(text)) return BigInt(text.replace(/^\+/, ''));
  throw noConversion(to);
}

const DOUBLE = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL_DOUBLE = /^([+-]?)(inf|infinity|nan)$/i;

function convertToDouble(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof CelUint) return Number(value.value);
  if (typeof value !== 'string' || value.length > 400) throw noConversion('a double');
  if (DOUBLE.test(value)) return Number(value);
  const special = SPECIAL_DOUBLE.exec(value);
  if (special === null) throw noConversion('a double');
  if (special[2]?.toLowerCase() === 'nan') return Number.NaN;
  return special[1] === '-' ? -Infinity : Infinity;
}

/** A double as CEL writes it. */
function formatDouble(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return Object.is(value, -0) ? '-0' : String(value);
}

function convertToString(frame: Frame, value: unknown): string {
  if (value instanceof Uint8Array) return decodeUtf8(frame, value);
  switch (kindOf(value)) {
    case 'bool':
    case 'int':
    case 'string':
      return String(value);
    case 'double':
      return typeof value === 'number' ? formatDouble(value) : '';
    case 'uint':
      return value instanceof CelUint ? String(value.value) : '';
    case 'timestamp':
      spend(frame, PARSING_STEPS);
      return formatTimestamp(toTimestampNs(value));
    case 'duration':
      spend(frame, PARSING_STEPS);
      return formatDuration(toDurationNs(value));
    default:
      throw noConversion('a string');
  }
}

function decodeUtf8(frame: Frame, bytes: Uint8Array): string {
  spend(frame, ENCODING_STEPS);
  spendOnText(frame, bytes.length);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new CelFailure('bytes are not UTF-8', 'Use base64.encode(bytes) for bytes that are no text.');
  }
}

/** Number of code points, bytes, elements or keys. Throws CelFailure. */
function sizeOf(frame: Frame, value: unknown): bigint {
  if (typeof value === 'string') return BigInt(countCodePoints(frame, value));
  if (Array.isArray(value) || value instanceof Uint8Array) return BigInt(value.length);
  if (kindOf(value) !== 'map') throw mismatch('a string, bytes, list or map');
  const size = sizeOfMap(value);
  spend(frame, size / 8);
  return BigInt(size);
}

function toTimestamp(frame: Frame, value: unknown): unknown {
  spend(frame, PARSING_STEPS);
  if (typeof value === 'string') return parseTimestamp(value);
  if (typeof value === 'bigint') return timestampOf(value * NS_PER_SECOND);
  return timestampOf(toTimestampNs(value));
}

function toDuration(frame: Frame, value: unknown): unknown {
  spend(frame, PARSING_STEPS);
  if (typeof value === 'string') return parseDuration(value);
  if (typeof value === 'bigint') return durationOf(value * NS_PER_SECOND);
  return durationOf(toDurationNs(value));
}

/** Conversions, size(), type(), dyn(). */
export const conversionFunctions: readonly CelFunction[] = [
  define(['bool(bool) -> bool', 'bool(string) -> bool'], (_frame, [value]) => toBool(value)),
  define(
    ['int(int) -> int', 'int(uint) -> int', 'int(double) -> int', 'int(string) -> int', 'int(timestamp) -> int'],
    (_frame, [value]) => convertToInt(value),
  ),
  define(
    ['uint(uint) -> uint', 'uint(int) -> uint', 'uint(double) -> uint', 'uint(string) -> uint'],
    (_frame, [value]) => convertToUint(value),
  ),
  define(['double(number) -> double', 'double(string) -> double'], (_frame, [value]) => convertToDouble(value)),
  define(
    [
      'string(string) -> string',
      'string(bool) -> string',
      'string(number) -> string',
      'string(bytes) -> string',
      'string(timestamp) -> string',
      'string(duration) -> string',
    ],
    (frame, [value]) => convertToString(frame, value),
  ),
  define(['bytes(bytes) -> bytes', 'bytes(string) -> bytes'], (frame, [value]) => {
    if (value instanceof Uint8Array) return value;
    if (typeof value !== 'string') throw noConversion('bytes');
    spend(frame, ENCODING_STEPS);
    spendOnText(frame, value.length);
    return encoder.encode(value);
  }),
  define(
    ['timestamp(string) -> timestamp', 'timestamp(int) -> timestamp', 'timestamp(timestamp) -> timestamp'],
    (frame, [value]) => toTimestamp(frame, value),
  ),
  define(
    ['duration(string) -> duration', 'duration(int) -> duration', 'duration(duration) -> duration'],
    (frame, [value]) => toDuration(frame, value),
  ),
  define(['dyn(dyn) -> dyn'], (_frame, [value]) => value),
  define(['type(dyn) -> type'], (_frame, [value]) => new CelTypeName(TYPE_NAMES[kindOf(value)])),
  define(['size(string) -> int', 'size(bytes) -> int', 'size(list) -> int', 'size(map) -> int'], (frame, [value]) =>
    sizeOf(frame, value),
  ),
  define(['string.size() -> int', 'bytes.size() -> int', 'list.size() -> int', 'map.size() -> int'], (frame, [value]) =>
    sizeOf(frame, value),
  ),
];
