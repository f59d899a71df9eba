/**
 * The variable bytes of a batch as one bytea parameter.
 *
 * A set-based statement takes one array a column. Arrays of text or bytea are sent as text, with every quote and
 * backslash escaped twice; here all bytes go as one binary parameter, and the statement cuts them out:
 *
 *     select substring($1::bytea from o + 1 for l) from unnest($2::int[], $3::int[]) as t (o, l)
 *
 * Measured with bench/batch-encoding.ts (loaded 2-core machine, Node 20, Node's CPU a row, batches of 200):
 *
 *     JSON of          text[]    bytea[]   blob, arrays by node-postgres   blob, array-parameters.ts
 *     300 bytes        6.4 us    4.8 us    3.8 us                          3.0 us
 *     3,800 bytes    184   us   44   us   17   us                         18   us
 */
import { impossible } from '../../kernel/index.js';

/** Where appended bytes lie. */
export interface BlobSlice {
  readonly offset: number;
  readonly length: number;
}

/** A PostgreSQL value ends at 1 GiB; batches stay far below, this catches a caller without a limit. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Gathers bytes for one parameter. Not reusable after toBuffer(). */
export class BatchBlob {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  /** Bytes gathered so far. */
  get length(): number {
    return this.#length;
  }

  /** Adds bytes; they must not change until toBuffer(). */
  append(bytes: Uint8Array): BlobSlice {
    const slice = { offset: this.#length, length: bytes.byteLength };
    this.#length += bytes.byteLength;
    if (this.#length > MAX_BYTES) impossible('batch-blob-size', `a batch of ${this.#length} bytes`);
    this.#parts.push(bytes);
    return slice;
  }

  /** All bytes, in order; node-postgres sends a Buffer as binary. */
  toBuffer(): Buffer {
    return Buffer.concat(this.#parts, this.#length);
  }
}
