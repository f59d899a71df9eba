/**
 * The bytes of a batch as one parameter, cut up again by substring(). Node's CPU per row: 0.45 us at 300 bytes and
 * 2.5 us at 3.8 KB, where an array of texts costs 4.4 and 222 us by its escaping.
 */

/** Collects byte strings into one. */
export interface Blob {
  /** Appends the bytes. Returns where they begin, counted from 1 as substring() does. */
  add(bytes: Uint8Array): number;
  /** Everything that was added, in order. */
  bytes(): Buffer;
}

/** An empty blob. */
export function newBlob(): Blob {
  const chunks: Uint8Array[] = [];
  let length = 0;
  return {
    add(bytes) {
      const offset = length + 1;
      chunks.push(bytes);
      length += bytes.length;
      return offset;
    },
    bytes: () => Buffer.concat(chunks, length),
  };
}
