/** Values on the wire: JSON as bytes. */
import type { Payload } from '../gen/ductor/v1/common.js';
import { DuctorError } from '../errors.js';

/** Largest value the engine takes, in bytes. */
const VALUE_BYTES_MAX = 2 * 1024 * 1024;

/**
 * A value as JSON bytes; undefined becomes null.
 *
 * @param what names the value in errors: "output of step score"
 * Throws DuctorError value_not_json or value_too_large.
 */
export function toPayload(value: unknown, what: string): Payload {
  const data = Buffer.from(stringify(value, what), 'utf8');
  if (data.byteLength > VALUE_BYTES_MAX) {
    throw new DuctorError(
      'value_too_large',
      `${what} is ${data.byteLength} bytes of JSON, the limit is ${VALUE_BYTES_MAX}`,
      {
        remedy: 'store it elsewhere and pass a reference',
      },
    );
  }
  return { data, encoding: '' };
}

/** The value of JSON bytes; an absent payload is undefined. Throws DuctorError value_not_json for another encoding. */
export function fromPayload(payload: Payload | undefined): unknown {
  if (payload === undefined) return undefined;
  if (payload.encoding !== '' && payload.encoding !== 'json') {
    throw new DuctorError(
      'value_not_json',
      `a value is encoded as ${JSON.stringify(payload.encoding)}, which this SDK cannot read`,
      {
        remedy: 'read it with the codec that wrote it',
      },
    );
  }
  const text = Buffer.from(payload.data.buffer, payload.data.byteOffset, payload.data.byteLength).toString('utf8');
  const value: unknown = JSON.parse(text);
  return value;
}

function stringify(value: unknown, what: string): string {
  try {
    return JSON.stringify(value ?? null) ?? 'null';
  } catch (error) {
    throw new DuctorError(
      'value_not_json',
      `${what} cannot be written as JSON: ${error instanceof Error ? error.message : String(error)}`,
      {
        remedy: 'return plain JSON values; turn bigint into strings',
        cause: error,
      },
    );
  }
}
