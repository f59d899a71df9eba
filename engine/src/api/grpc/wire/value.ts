/** Values of runs as the API shows them. */
import type { Payload } from '../../../gen/ductor/v1/common.js';
import type { Value } from '../ports.js';

const bufferOf = ({ data }: Value): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/**
 * A value as JSON. One that is not JSON, or only says so, is shown as `{"encoding", "base64"}`: readable and complete,
 * and never a reason for a run not to be shown.
 */
export function jsonOf(value: Value): unknown {
  const bytes = bufferOf(value);
  if (value.encoding === 'json' || value.encoding === '') {
    try {
      return JSON.parse(bytes.toString('utf8'));
    } catch {
      // Shown as opaque bytes below.
    }
  }
  return { encoding: value.encoding, base64: bytes.toString('base64') };
}

/** A value as its bytes; not copied. */
export function payloadOf(value: Value): Payload {
  return { data: bufferOf(value), encoding: value.encoding };
}
