/** What values become on their way, as types, so that a step's input type says what really arrives. */

/** Plain JSON values. */
export type JsonPrimitive = string | number | boolean | null;

type Callable = (...args: never[]) => unknown;

/** A step may end without a value; it then puts out null. */
type FromVoid<T> = [T] extends [void] ? null : T extends undefined ? null : T;

/**
 * T after it was sent and read again: what it was, beside JSON also Date, bigint, Map, Set, Uint8Array and Error. A
 * Buffer comes back as Uint8Array. What is refused (functions, symbols) is never.
 */
export type Restored<T> = T extends JsonPrimitive | bigint | undefined | Date
  ? T
  : T extends symbol | Callable
    ? never
    : T extends Uint8Array
      ? Uint8Array
      : T extends Error
        ? T
        : T extends ReadonlyMap<infer K, infer V>
          ? Map<Restored<K>, Restored<V>>
          : T extends ReadonlySet<infer E>
            ? Set<Restored<E>>
            : T extends readonly (infer E)[]
              ? number extends T['length']
                ? Restored<E>[]
                : { [K in keyof T]: Restored<T[K]> }
              : T extends object
                ? { [K in keyof T]: Restored<T[K]> }
                : T;

type JsonItem<T> = T extends undefined ? null : Jsonify<T>;

/**
 * What expressions and templates make of a T: JSON. Dates become RFC 3339 text, bigint a number (an expression fails
 * beyond 2^53), a Map by texts an object, any other a list of pairs, a Set a list, bytes base64, an Error an object of
 * its fields, undefined in a list null; optional fields stay optional, functions and symbols vanish from objects.
 */
export type Jsonify<T> = T extends JsonPrimitive
  ? T
  : T extends bigint
    ? number
    : T extends symbol | Callable
      ? never
      : T extends Uint8Array
        ? string
        : T extends Error
          ? { name: string; message: string; stack?: string; cause?: unknown }
          : T extends ReadonlyMap<infer K, infer V>
            ? K extends string
              ? { [key: string]: Jsonify<V> }
              : [Jsonify<K>, Jsonify<V>][]
            : T extends ReadonlySet<infer E>
              ? JsonItem<E>[]
              : T extends { toJSON(): infer J }
                ? J
                : T extends readonly (infer E)[]
                  ? number extends T['length']
                    ? JsonItem<E>[]
                    : { [K in keyof T]: JsonItem<T[K]> }
                  : T extends object
                    ? { [K in keyof T as T[K] extends symbol | Callable ? never : K]: Jsonify<T[K]> }
                    : unknown extends T
                      ? T
                      : T extends undefined
                        ? undefined
                        : never;

/** Output type of a step whose body resolves to T. */
export type StepOutput<T> = Restored<FromVoid<T>>;
