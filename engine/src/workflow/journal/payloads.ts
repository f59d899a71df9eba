/**
 * Large values stand once in `payloads`, by run and digest of their bytes; rows and snapshots hold the digest.
 *
 * Rows are taken apart after they are encoded, and put together before they are read, by looking for stored values
 * wherever they stand: a new kind of entry needs nothing of its own. Rows within the limit are not looked at.
 *
 * Invariants:
 * 1. A row that refers to a payload is written in one commit with it: what an entry refers to, its tick carries.
 * 2. A snapshot refers without carrying only to what is large for a row too and the same run is known to have: the
 *    bytes were loaded from its payloads, or an entry of this or an earlier tick carried these very bytes. Bytes of a
 *    tick that was never written come into the state again only by an entry, and that carries them again.
 * 3. A snapshot refers to values that are small enough for a row as well, because it would write them anew each time.
 *    It carries them every time: no entry does, and storing what is there already writes nothing.
 */
import { createHash } from 'node:crypto';
import type { StoredValue } from '../../gen/ductor/journal/v1/journal.js';
import type { PayloadRef } from '../machine/value.js';

/** Values beyond this size stand in payloads, bytes. */
export const PAYLOAD_BYTES = 64 * 1024;

/** What is large for a snapshot, which is written again and again, as a share of what is large for a row. */
const SNAPSHOT_SHARE = 1 / 16;

/** Bytes to be stored under their digest. */
export interface PayloadWrite {
  /** SHA-256 of the bytes. */
  readonly digest: Uint8Array;
  readonly data: Uint8Array;
}

/** Takes up the large values of one tick. */
export interface PayloadSink {
  readonly runId: string;
  /** Values beyond this size go here, bytes. */
  readonly aboveBytes: number;
  /** By digest in hex. */
  readonly writes: Map<string, PayloadWrite>;
}

/** Payloads of a run as far as they were loaded, and what reading found to be missing. */
export interface PayloadShelf {
  readonly runId: string;
  /** By digest in hex. */
  readonly loaded: ReadonlyMap<string, Uint8Array>;
  /** Filled by reading; by digest in hex. */
  readonly missing: Map<string, PayloadRef>;
}

/** An empty sink for a tick of the run. */
export function payloadSink(runId: string, aboveBytes: number = PAYLOAD_BYTES): PayloadSink {
  return { runId, aboveBytes, writes: new Map() };
}

/** A shelf. Default: nothing was loaded yet. */
export function payloadShelf(runId: string, loaded: ReadonlyMap<string, Uint8Array> = new Map()): PayloadShelf {
  return { runId, loaded, missing: new Map() };
}

/** What is known of bytes: their digest, and a run whose payloads have them. Only saves work. */
const KNOWN = new WeakMap<Uint8Array, { readonly digest: Buffer; readonly runId: string }>();

const NO_BYTES = Buffer.alloc(0);

function isStoredValue(node: object): node is StoredValue {
  return 'digest' in node && 'encoding' in node && 'data' in node && node.data instanceof Uint8Array;
}

/** All stored values within a decoded or not yet encoded message. */
function* storedValues(node: unknown): Generator<StoredValue, undefined> {
  if (typeof node !== 'object' || node === null || node instanceof Uint8Array) return;
  if (isStoredValue(node)) yield node;
  else for (const part of Object.values(node)) yield* storedValues(part);
}

/**
 * Moves the large values of a message to the sink, in place.
 *
 * @param isSnapshot leave out the bytes that the run is known to have (invariant 2)
 * @returns whether there were any
 */
export function moveOut(message: object, sink: PayloadSink, isSnapshot: boolean): boolean {
  let isAny = false;
  const aboveBytes = isSnapshot ? sink.aboveBytes * SNAPSHOT_SHARE : sink.aboveBytes;
  for (const value of storedValues(message)) {
    const { data } = value;
    if (data.byteLength <= aboveBytes) continue;
    isAny = true;
    const known = KNOWN.get(data);
    const digest = known?.digest ?? createHash('sha256').update(data).digest();
    const isKnown = known?.runId === sink.runId && data.byteLength > sink.aboveBytes;
    if (!isSnapshot || !isKnown) sink.writes.set(digest.toString('hex'), { digest, data });
    KNOWN.set(data, { digest, runId: sink.runId });
    value.data = NO_BYTES;
    value.digest = digest;
    value.size = data.byteLength;
  }
  return isAny;
}

/** Puts loaded payloads back where a message refers to them, in place, and notes those that are missing. */
export function putBack(message: object, shelf: PayloadShelf): void {
  for (const value of storedValues(message)) {
    if (value.digest.byteLength === 0) continue;
    const { digest, size } = value;
    const name = digest.toString('hex');
    const data = shelf.loaded.get(name);
    if (data === undefined) {
      shelf.missing.set(name, { digest: name, size });
      continue;
    }
    value.data = Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    KNOWN.set(value.data, { digest, runId: shelf.runId });
    value.digest = NO_BYTES;
    value.size = 0;
  }
}
