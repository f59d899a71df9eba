/** How a stream of answers is framed: Connect's envelopes with an end-of-stream message, gRPC-Web's with trailers. */
import type { DuctorError } from '../../kernel/index.js';
import { toStatus } from '../grpc/errors/to-status.js';
import { connectError } from './connect-error.js';
import { envelope } from './envelope.js';
import type { Protocol } from './protocol.js';

const MESSAGE = 0x00;
const CONNECT_END = 0x02;
const WEB_TRAILERS = 0x80;

function trailers(error: DuctorError | null): Buffer {
  if (error === null) return Buffer.from('grpc-status: 0\r\n');
  const { code, details, metadata } = toStatus(error);
  const fields = Object.entries(metadata.getMap()).map(
    ([name, value]) => `${name}: ${Buffer.isBuffer(value) ? value.toString('base64').replace(/=+$/, '') : value}\r\n`,
  );
  return Buffer.from(`grpc-status: ${code}\r\ngrpc-message: ${encodeURIComponent(details)}\r\n${fields.join('')}`);
}

/** The frames of a protocol. */
export interface Framing {
  message(bytes: Uint8Array): Buffer;
  end(error: DuctorError | null): Buffer;
}

/** The framing of a protocol. */
export function framing({ name, isText }: Protocol): Framing {
  const written = (bytes: Buffer): Buffer => (isText ? Buffer.from(bytes.toString('base64'), 'latin1') : bytes);
  const isWeb = name === 'grpc-web';
  return {
    message: (bytes) => written(envelope(MESSAGE, bytes)),
    end(error) {
      if (isWeb) return written(envelope(WEB_TRAILERS, trailers(error)));
      const said = error === null ? {} : { error: connectError(error) };
      return written(envelope(CONNECT_END, Buffer.from(JSON.stringify(said))));
    },
  };
}
