/** CEL values as plain JSON. */
import { DuctorError } from '../kernel/index.js';
import { toBase64 } from './functions/encoding.js';
import type { JsonValue } from './types.js';
import { CelFailure } from './values/failure.js';
import { formatDuration, formatTimestamp, toDurationNs, toTimestampNs } from './values/time.js';
import { CelMap, CelUint, isPlainObject, kindOf } from './values/values.js';

/**
 * The result of an expression as plain JSON. Ints and uints become numbers, timestamps RFC 3339 text, durations text in
 * seconds (`1.5s`), bytes base64, keys of maps text. A list or object that is JSON already is returned itself, no copy.
 * @throws DuctorError `expression_failed` for what JSON cannot hold: an int beyond 2^53 - 1, NaN, infinity, a type,
 *   two keys with one text, a class instance, `undefined`; its text names no value
 */
export function toJsonValue(value: unknown): JsonValue {
  try {
    return convert(value);
  } catch (caught) {
    if (caught instanceof CelFailure) throw failed(caught.problem, caught.remedy);
    if (caught instanceof RangeError) throw failed('the value is nested too deeply for JSON');
    throw caught;
  }
}

function failed(problem: string, remedy?: string): DuctorError {
  return new DuctorError('expression_failed', problem, remedy === undefined ? {} : { remedy });
}

function convert(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return finite(value);
  if (typeof value === 'bigint') return safeInteger(value);
  if (value instanceof CelUint) return safeInteger(value.value);
  if (Array.isArray(value)) return convertList(value);
  if (isPlainObject(value)) return convertObject(value);
  if (value instanceof CelMap) return convertMap(value);
  if (value instanceof Uint8Array) return toBase64(value);
  switch (kindOf(value)) {
    case 'timestamp':
      return formatTimestamp(toTimestampNs(value));
    case 'duration':
      return formatDuration(toDurationNs(value));
    default:
      throw new CelFailure('a type is no JSON value', 'Compare it: type(x) == string.');
  }
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  throw new CelFailure(
    'a number is NaN or infinite, which JSON cannot hold',
    'Guard the division: b != 0.0 ? a / b : 0.0.',
  );
}

function safeInteger(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new CelFailure(
    'an int is beyond 2^53 - 1, which JSON numbers cannot hold exactly',
    'Pass it as text: string(x).',
  );
}

function convertList(list: readonly unknown[]): JsonValue {
  let isSame = true;
  const converted: JsonValue[] = [];
  for (const item of list) {
    const json = convert(item);
    isSame &&= Object.is(json, item);
    converted.push(json);
  }
  return isSame && isJsonList(list) ? list : converted;
}

function convertObject(object: Readonly<Record<string, unknown>>): JsonValue {
  let isSame = true;
  const converted: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(object)) {
    const json = convert(item);
    isSame &&= Object.is(json, item);
    converted.push([key, json]);
  }
  return isSame && isJsonObject(object) ? object : Object.fromEntries(converted);
}

/** Only asked of a list whose items convert() gave back unchanged. */
function isJsonList(list: readonly unknown[]): list is readonly JsonValue[] {
  return Array.isArray(list);
}

/** Only asked of an object whose fields convert() gave back unchanged. */
function isJsonObject(object: Readonly<Record<string, unknown>>): object is { readonly [key: string]: JsonValue } {
  return isPlainObject(object);
}

function convertMap(map: CelMap): JsonValue {
  const converted = new Map<string, JsonValue>();
  for (const [key, item] of map.entries()) {
    const name = key instanceof CelUint ? String(key.value) : String(key);
    if (converted.has(name)) throw new CelFailure('two keys of a map are the same as JSON text');
    converted.set(name, convert(item));
  }
  return Object.fromEntries(converted);
}
