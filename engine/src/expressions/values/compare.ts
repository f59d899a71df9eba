/** Equality and order between values. Both pay for what they visit. */
import { type Frame, spend, spendOnText } from '../evaluating/frame.js';
import { CelFailure } from './failure.js';
import { type CelNumber, comparable, isNumber, numbersEqual } from './numbers.js';
import { toDurationNs, toTimestampNs } from './time.js';
import { CelMap, CelTypeName, type Kind, type PlainObject, isPlainObject, kindOf } from './values.js';

/** `a == b` for values of any kinds: of different kinds they are unequal, except numbers, which compare by value. */
export function equal(frame: Frame, a: unknown, b: unknown): boolean {
  if (isNumber(a)) return isNumber(b) && numbersEqual(a, b);
  if (typeof a === 'string') {
    spendOnText(frame, a.length);
    return a === b;
  }
  if (typeof a === 'boolean' || a === null) return a === b;
  const kind = kindOf(a);
  if (kindOf(b) !== kind) return false;
  return equalOfKind(frame, kind, a, b);
}

function equalOfKind(frame: Frame, kind: Kind, a: unknown, b: unknown): boolean {
  switch (kind) {
    case 'list':
      return Array.isArray(a) && Array.isArray(b) && listsEqual(frame, a, b);
    case 'map':
      return mapsEqual(frame, a, b);
    case 'timestamp':
      return toTimestampNs(a) === toTimestampNs(b);
    case 'duration':
      return toDurationNs(a) === toDurationNs(b);
    case 'bytes':
      return a instanceof Uint8Array && b instanceof Uint8Array && compareBytes(frame, a, b) === 0;
    case 'type':
      return a instanceof CelTypeName && b instanceof CelTypeName && a.name === b.name;
    default:
      return false;
  }
}

function listsEqual(frame: Frame, a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    spend(frame, 1);
    if (!equal(frame, a[i], b[i])) return false;
  }
  return true;
}

function mapsEqual(frame: Frame, a: unknown, b: unknown): boolean {
  if (sizeOfMap(a) !== sizeOfMap(b)) return false;
  for (const [key, value] of entriesOfMap(a)) {
    spend(frame, 1);
    const other = readKey(b, key);
    if (other === undefined || !equal(frame, value, other)) return false;
  }
  return true;
}

/** The value of a map's key, undefined when there is none. Only own keys count. Throws CelFailure if it is no map. */
export function readKey(map: unknown, key: unknown): unknown {
  if (isPlainObject(map)) return typeof key === 'string' ? readOwn(map, key) : undefined;
  if (map instanceof CelMap) return map.get(key);
  throw new CelFailure(`a ${kindOf(map)} has no keys`);
}

/** An own field of a plain object, undefined when there is none. */
export function readOwn(object: PlainObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Number of a map's entries. */
export function sizeOfMap(map: unknown): number {
  if (map instanceof CelMap) return map.size;
  return isPlainObject(map) ? Object.keys(map).length : 0;
}

/** A map's keys and values in order of insertion. */
export function entriesOfMap(map: unknown): Iterable<readonly [key: unknown, value: unknown]> {
  if (map instanceof CelMap) return map.entries();
  return isPlainObject(map) ? Object.entries(map) : [];
}

/**
 * Negative, zero or positive as a comes before, with or after b; NaN when a number is NaN. Undefined when values of
 * these kinds have no order.
 */
export function compare(frame: Frame, a: unknown, b: unknown): number | undefined {
  if (isNumber(a)) return isNumber(b) ? compareNumbers(a, b) : undefined;
  if (typeof a === 'string') return typeof b === 'string' ? compareText(frame, a, b) : undefined;
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(frame, a, b) : undefined;
  const kind = kindOf(a);
  if (kindOf(b) !== kind) return undefined;
  if (kind === 'timestamp') return compareNumbers(toTimestampNs(a), toTimestampNs(b));
  if (kind === 'duration') return compareNumbers(toDurationNs(a), toDurationNs(b));
  return undefined;
}

function compareNumbers(a: CelNumber, b: CelNumber): number {
  const left = comparable(a);
  const right = comparable(b);
  if (left < right) return -1;
  if (left > right) return 1;
  return Number.isNaN(left) || Number.isNaN(right) ? Number.NaN : 0;
}

/** By code points, as CEL has it: JavaScript's own order sets U+E000..U+FFFF after the astral characters. */
function compareText(frame: Frame, a: string, b: string): number {
  spendOnText(frame, Math.min(a.length, b.length));
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return rankOfUnit(left) - rankOfUnit(right);
  }
  return a.length - b.length;
}

function rankOfUnit(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function compareBytes(frame: Frame, a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  spendOnText(frame, length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
