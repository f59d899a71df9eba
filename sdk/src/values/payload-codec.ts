/** The app's own coding of bytes on their way to the engine, such as encryption. */
import { DuctorError } from '../errors.js';
import { type EncodedValue, decodeValue, encodeValue } from './typed-value.js';

/**
 * Codes the bytes of all values that this process sends, and decodes what it receives. The engine keeps what `encode`
 * gives and cannot look into it: expressions over such values fail with `expression_failed`, and `input_schema` is
 * checked by the client alone. Every process of the app needs the same codec. Both functions may throw; an attempt
 * whose output cannot be coded fails.
 */
export interface PayloadCodec {
  /** Stands with each value: 1 to 64 letters, digits, "-" and "_". Values under another name are refused. */
  readonly name: string;
  /** Bytes as they are kept. */
  encode(bytes: Uint8Array): Uint8Array;
  /** The bytes that `encode` was given. */
  decode(bytes: Uint8Array): Uint8Array;
}

/** A value on the wire. */
export interface WirePayload {
  data: Buffer;
  encoding: string;
}

/** Turns values into payloads and back. */
export interface ValueCoder {
  /**
   * A value as bytes; undefined becomes null.
   *
   * @param what names the value in errors: "output of step score"
   * Throws DuctorError value_not_json or value_too_large.
   */
  toPayload(value: unknown, what: string): WirePayload;
  /** The value of a payload; an absent payload is undefined. Throws DuctorError value_not_json. */
  fromPayload(payload: WirePayload | undefined): unknown;
}

/** Largest value the engine takes, in bytes. */
const VALUE_BYTES_MAX = 2 * 1024 * 1024;
/** Before the name of a codec in the name of an encoding. */
const PREFIX = 'codec/';
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function checkSize({ data, encoding }: EncodedValue, what: string): WirePayload {
  if (data.byteLength <= VALUE_BYTES_MAX) return { data, encoding };
  throw new DuctorError('value_too_large', `${what} has ${data.byteLength} bytes, the limit is ${VALUE_BYTES_MAX}`, {
    remedy: 'store it elsewhere and pass a reference',
  });
}

/** What a codec is given: one byte, 0 for JSON and 1 for JSON with types, and the value. */
function framed({ data, encoding }: EncodedValue): Buffer {
  return Buffer.concat([Buffer.from([encoding === '' ? 0 : 1]), data]);
}

function decoded(codec: PayloadCodec, data: Buffer): unknown {
  const bytes = bufferOf(codec.decode(data));
  const kind = bytes[0];
  if (kind === 0) return decodeValue(bytes.subarray(1), '');
  if (kind === 1) return decodeValue(bytes.subarray(1), 'json-typed');
  throw new DuctorError('value_not_json', `the payloadCodec ${codec.name} did not give back what it was given`);
}

/** A coder without a codec of the app. */
export const PLAIN_CODER: ValueCoder = {
  toPayload: (value, what) => checkSize(encodeValue(value, what), what),
  fromPayload: (payload) => (payload === undefined ? undefined : decodeValue(payload.data, payload.encoding)),
};

/**
 * A coder with the codec of the app, if it has one. Values that were sent without one are read all the same, so that an
 * app can begin to use one. Throws DuctorError invalid_argument for a name that cannot be.
 */
export function valueCoder(codec: PayloadCodec | undefined): ValueCoder {
  if (codec === undefined) return PLAIN_CODER;
  if (!NAME.test(codec.name)) {
    throw new DuctorError('invalid_argument', `payloadCodec.name is ${JSON.stringify(codec.name)}`, {
      remedy: 'use 1 to 64 letters, digits, "-" and "_"',
    });
  }
  const encoding = `${PREFIX}${codec.name}`;
  const decode = (payload: WirePayload): unknown =>
    payload.encoding === encoding ? decoded(codec, payload.data) : decodeValue(payload.data, payload.encoding, decode);
  return {
    toPayload: (value, what) =>
      checkSize({ data: bufferOf(codec.encode(framed(encodeValue(value, what)))), encoding }, what),
    fromPayload: (payload) => (payload === undefined ? undefined : decode(payload)),
  };
}
