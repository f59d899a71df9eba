/** What a value becomes on its way through JSON, as a type, so that a step's input type says what really arrives. */

/** Plain JSON values. */
export type JsonPrimitive = string | number | boolean | null;

/** A step may end without a value; it then puts out null. */
type FromVoid<T> = [T] extends [void] ? null : T;

/**
 * T after `JSON.parse(JSON.stringify(value))`: Dates become strings, functions and symbols vanish from objects,
 * optional
 * fields stay optional, bigint is not allowed (never).
 */
export type Jsonify<T> = T extends JsonPrimitive
  ? T
  : T extends bigint | symbol | ((...args: never[]) => unknown)
    ? never
    : T extends { toJSON(): infer J }
      ? J
      : T extends readonly (infer E)[]
        ? number extends T['length']
          ? Jsonify<E>[]
          : { [K in keyof T]: Jsonify<T[K]> }
        : T extends object
          ? { [K in keyof T as T[K] extends symbol | ((...args: never[]) => unknown) ? never : K]: Jsonify<T[K]> }
          : unknown extends T
            ? T
            : T extends undefined
              ? undefined
              : never;

/** Output type of a step whose body resolves to T. */
export type StepOutput<T> = Jsonify<FromVoid<T>>;
