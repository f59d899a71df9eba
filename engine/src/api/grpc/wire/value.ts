/** Values of runs as the API shows them. */
import type { Payload } from '../../../gen/ductor/v1/common.js';
import { jsonOfValue, type Value } from '../ports.js';

const bufferOf = ({ data }: Value): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/**
 * A value as JSON; of one with types what JSON has of it. One that is not JSON, or only says so, is shown as
 * `{"encoding", "base64"}`: readable and complete, and never a reason for a run not to be shown.
 */
export function jsonOf(value: Value): unknown {
  try {
    const found = jsonOfValue(value);
    if (found !== undefined) return found.json;
  } catch {
    // Shown as opaque bytes below.
  }
  return { encoding: value.encoding, base64: bufferOf(value).toString('base64') };
}

/** The bytes of a value that has more than JSON shows; undefined for plain JSON. */
export function exactOf(value: Value): Payload | undefined {
  return value.encoding === 'json' ? undefined : payloadOf(value);
}

/** A value as its bytes; not copied. */
export function payloadOf(value: Value): Payload {
  return { data: bufferOf(value), encoding: value.encoding };
}
