/** Reads a body within its bounds. */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DuctorError } from '../../kernel/index.js';
import { MAX_MESSAGE_BYTES, messageTooLarge } from '../grpc/message-size.js';
import { MAX_INFLATION } from './limits.js';

const inflate = promisify(gunzip);
/** What may be inflated whatever its size was: small bodies compress very well. */
const MIN_INFLATED_BYTES = 64 * 1024;

function cutShort(cause: unknown): DuctorError {
  const problem = 'ended before its announced length';
  const details = [{ path: '', value: '', problem, remedy: 'Send the whole body.' }];
  return new DuctorError('invalid_argument', `the body ${problem}`, { details, cause });
}

/** The bytes as they came. Throws message_too_large without reading on, invalid_argument when the peer stops early. */
function readRaw(request: IncomingMessage): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > MAX_MESSAGE_BYTES) return Promise.reject(messageTooLarge(announced));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const done = (settle: () => void): void => {
      request.off('data', take).off('end', end).off('error', fail).off('close', close);
      settle();
    };
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= MAX_MESSAGE_BYTES) return;
      request.pause();
      done(() => reject(messageTooLarge(length)));
    };
    const end = (): void => done(() => resolve(Buffer.concat(chunks, length)));
    const fail = (error: unknown): void => done(() => reject(cutShort(error)));
    const close = (): void => fail(undefined);
    request.on('data', take).on('end', end).on('error', fail).on('close', close);
  });
}

/**
 * Inflates gzip. A bomb is cut at 4 MiB, or at 20 times its size.
 *
 * Throws message_too_large, invalid_argument.
 */
export async function inflateGzip(bytes: Buffer): Promise<Buffer> {
  const limit = Math.min(MAX_MESSAGE_BYTES, Math.max(MIN_INFLATED_BYTES, bytes.length * MAX_INFLATION));
  try {
    return await inflate(bytes, { maxOutputLength: limit });
  } catch (error) {
    if (error instanceof RangeError) throw messageTooLarge(limit + 1);
    const problem = 'is not gzip, though the header says so';
    const details = [{ path: '', value: '', problem, remedy: 'Mend the compression, or send it plain.' }];
    throw new DuctorError('invalid_argument', `the body ${problem}`, { details, cause: error });
  }
}

/** The refusal of a compression that is not read. */
export function unknownEncoding(name: string): DuctorError {
  const problem = `has the encoding ${JSON.stringify(name.slice(0, 64))}`;
  const remedy = 'Send it as gzip or plain.';
  const details = [{ path: 'content-encoding', value: name.slice(0, 64), problem, remedy }];
  return new DuctorError('unsupported_media_type', `the body ${problem}`, { details, remedy });
}

/** The whole body, inflated. Throws message_too_large, unsupported_media_type, invalid_argument. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') throw unknownEncoding(encoding);
  const raw = await readRaw(request);
  return encoding === 'gzip' ? inflateGzip(raw) : raw;
}
