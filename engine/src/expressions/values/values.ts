/**
 * Values while an expression runs. JSON's own stay as they are: null, boolean, string, number (double), array, plain
 * object. Added to these: bigint (int), Uint8Array (bytes) and the classes below. Nothing else is readable.
 */
import { CelFailure } from './failure.js';

/** An unsigned 64-bit integer. */
export class CelUint {
  constructor(readonly value: bigint) {}
}

/** An instant, in nanoseconds since 1970-01-01T00:00:00Z. */
export class CelTimestamp {
  constructor(readonly ns: bigint) {}
}

/** A span of time, in nanoseconds. */
export class CelDuration {
  constructor(readonly ns: bigint) {}
}

/** The type of a value, as `type(x)` yields it. */
export class CelTypeName {
  constructor(readonly name: string) {}
}

type MapKey = string | bigint | boolean;

/** A map made by an expression; keys are strings, bools, ints, uints. An int and a uint of one value are one key. */
export class CelMap {
  readonly #entries = new Map<MapKey, readonly [key: unknown, value: unknown]>();

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** Adds an entry. Answers false when the key is there already. Throws CelFailure for a key of another kind. */
  add(key: unknown, value: unknown): boolean {
    const canonical = canonicalKey(key);
    if (canonical === undefined) throw new CelFailure('a map key is not a string, bool, int or uint');
    if (this.#entries.has(canonical)) return false;
    this.#entries.set(canonical, [key, value]);
    return true;
  }

  /** The value of a key; undefined when there is none. A double finds the int of the same value. */
  get(key: unknown): unknown {
    const canonical = canonicalKey(key);
    return canonical === undefined ? undefined : this.#entries.get(canonical)?.[1];
  }

  /** Keys and values in order of insertion. */
  entries(): Iterable<readonly [key: unknown, value: unknown]> {
    return this.#entries.values();
  }
}

function canonicalKey(key: unknown): MapKey | undefined {
  if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') return key;
  if (key instanceof CelUint) return key.value;
  return typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : undefined;
}

/** Kinds of value. `double` is any JSON number. */
export type Kind =
  'null' | 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'timestamp' | 'duration' | 'list' | 'map' | 'type';

/** A kind in words, with its article. */
export function describeKind(kind: Kind): string {
  if (kind === 'null' || kind === 'bytes') return kind;
  return kind === 'int' ? 'an int' : `a ${kind}`;
}

/** A map out of JSON. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Whether a value is a plain object: made by a literal, JSON.parse or without a prototype. */
export function isPlainObject(value: unknown): value is PlainObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The kind of a value. Throws CelFailure for what no expression may read: class instances, functions, undefined. */
export function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'object':
      return value === null ? 'null' : kindOfObject(value);
    default:
      throw unreadable();
  }
}

function kindOfObject(value: object): Kind {
  if (Array.isArray(value)) return 'list';
  if (isPlainObject(value) || value instanceof CelMap) return 'map';
  if (value instanceof CelTimestamp) return 'timestamp';
  if (value instanceof CelDuration) return 'duration';
  if (value instanceof CelUint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Date && !Number.isNaN(value.getTime())) return 'timestamp';
  if (value instanceof CelTypeName) return 'type';
  throw unreadable();
}

/** The value itself, once it is sure that an expression may read it. Throws CelFailure otherwise. */
export function admit(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
      return value;
    default:
      kindOf(value);
      return value;
  }
}

function unreadable(): CelFailure {
  return new CelFailure(
    'a value is not JSON (a class instance, a function or undefined)',
    'Pass plain JSON values; timestamps may be Date.',
  );
}
