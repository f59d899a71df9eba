/** Envelopes of Connect streams and gRPC-Web: a byte of flags, four bytes of length, the message. */
import { DuctorError } from '../../kernel/index.js';
import { inflateGzip, unknownEncoding } from '../http/read-body.js';

const HEADER_BYTES = 5;
/** The message is compressed. */
const COMPRESSED = 0x01;

/** A message with its flags. */
export function envelope(flags: number, message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + message.length);
  bytes.writeUInt8(flags, 0);
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, HEADER_BYTES);
  return bytes;
}

function broken(problem: string): DuctorError {
  const details = [{ path: '', value: '', problem, remedy: 'Send exactly one message in its envelope.' }];
  return new DuctorError('invalid_argument', `the body ${problem}`, { details });
}

/**
 * The one message of a body.
 *
 * @param encoding the compression that the header names for messages that say they are compressed; '' for none
 *
 * Throws invalid_argument, unsupported_media_type, message_too_large.
 */
export async function singleMessage(body: Buffer, encoding: string): Promise<Buffer> {
  if (body.length < HEADER_BYTES) throw broken('holds no message');
  const length = body.readUInt32BE(1);
  if (body.length < HEADER_BYTES + length) throw broken('ends inside its message');
  if (body.length > HEADER_BYTES + length) throw broken('holds more than one message');
  const message = body.subarray(HEADER_BYTES);
  const flags = body.readUInt8(0);
  if (flags === 0) return message;
  if (flags !== COMPRESSED) throw broken(`has an envelope with the flags ${flags}`);
  if (encoding !== 'gzip') throw unknownEncoding(encoding);
  return inflateGzip(message);
}
