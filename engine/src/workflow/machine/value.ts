/** Values of a run: bytes end to end, parsed only where an expression reads them. */

/** Where the bytes of a large value stand: in the payloads of its run, under their digest. */
export interface PayloadRef {
  /** SHA-256 of the bytes, lower case hex. */
  readonly digest: string;
  /** Bytes of the value. */
  readonly size: number;
}

/** Bytes and how they are encoded. */
export interface Value {
  /** Empty when the value is absent. */
  readonly data: Uint8Array;
  /** "json" (UTF-8 JSON, the only one expressions read) or a codec's name. */
  readonly encoding: string;
  /**
   * The bytes were not loaded; they stand here. Only readers that show runs meet such values: what the machine is given
   * is whole.
   */
  readonly absent?: PayloadRef;
}

/** A value by copy, or by where it already stands in the run, so that the journal holds each value once. */
export type ValueSource =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'runInput' }
  /** The item of the innermost scatter around the step that receives it. */
  | { readonly kind: 'item' }
  /** What the innermost loop around that step carries. */
  | { readonly kind: 'vars' }
  | { readonly kind: 'stepOutput'; readonly path: string };

/**
 * Values beyond this size may stand beside the journal, bytes. What is cut out of them, or put together of them, is a
 * value in it: readers that do not load large values fold it, too.
 */
export const LARGE_BYTES = 64 * 1024;

/** JSON null. */
export const NULL_VALUE: Value = { data: new Uint8Array([0x6e, 0x75, 0x6c, 0x6c]), encoding: 'json' };

/** A JSON value as bytes. The caller has checked that it is plain JSON. */
export function jsonValue(json: unknown): Value {
  return { data: Buffer.from(JSON.stringify(json ?? null), 'utf8'), encoding: 'json' };
}
