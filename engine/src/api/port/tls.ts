/**
 * TLS on the port: certificate and key from files that may be replaced while the node serves.
 *
 *   connection -> handshake -> secured;  no handshake in time, none of our versions, or no client certificate -> closed
 *
 * Invariants:
 * 1. Nothing is spoken in clear on a port with TLS.
 * 2. Files that cannot be used are logged, and the certificate before them stays.
 */
import type { Socket } from 'node:net';
import { createSecureContext, createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls';
import { type Clock, DuctorError, type Timer } from '../../kernel/index.js';
import { readPem } from './read-pem.js';

/** Paths of PEM files. */
export interface TlsFiles {
  /** Certificate of the node, and those between it and its authority. */
  readonly cert: string;
  readonly key: string;
  /** Authorities of clients; where they are named, callers without a certificate of theirs are not let in. */
  readonly clientCa: string | null;
}

/** What wraps connections. */
export interface TlsGate {
  /** Secures a connection that was accepted. */
  secure(socket: Socket): void;
  /** Stops looking for new files. */
  close(): void;
}

/** How often the files are read again, ms. */
const LOOK_MS = 60_000;

function readContext({ cert, key, clientCa }: TlsFiles): SecureContextOptions {
  const context = {
    ...{ cert: readPem('DUCTOR_TLS_CERT', cert), key: readPem('DUCTOR_TLS_KEY', key) },
    ...(clientCa === null ? {} : { ca: readPem('DUCTOR_TLS_CLIENT_CA', clientCa) }),
    minVersion: 'TLSv1.2' as const,
  };
  try {
    createSecureContext(context);
  } catch (cause) {
    const message = `the files of DUCTOR_TLS_CERT, DUCTOR_TLS_KEY and DUCTOR_TLS_CLIENT_CA cannot be used together`;
    throw new DuctorError('invalid_argument', message, { cause, remedy: 'Name PEM files that belong together.' });
  }
  return context;
}

/**
 * Reads the files. Throws invalid_argument when they cannot be used.
 *
 * @param handshakeMs how long a handshake may take
 * @param onSecure takes connections that are secured
 * @param onUnusable told, later on, of new files that cannot be used
 */
export function tlsGate(
  files: TlsFiles,
  { clock, handshakeMs }: { readonly clock: Clock; readonly handshakeMs: number },
  onSecure: (socket: TLSSocket) => void,
  onUnusable: (error: unknown) => void,
): TlsGate {
  let context = readContext(files);
  const needsClient = files.clientCa !== null;
  const server: Server = createServer({
    ...{ ...context, handshakeTimeout: handshakeMs, ALPNProtocols: ['h2', 'http/1.1'] },
    ...{ requestCert: needsClient, rejectUnauthorized: needsClient },
  });
  server.on('secureConnection', onSecure);
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  const look = (): void => {
    timer = clock.setTimer(LOOK_MS, look);
    try {
      const read = readContext(files);
      if (JSON.stringify(read) === JSON.stringify(context)) return;
      server.setSecureContext(read);
      context = read;
    } catch (error) {
      onUnusable(error);
    }
  };
  let timer: Timer = clock.setTimer(LOOK_MS, look);
  return {
    secure: (socket) => void server.emit('connection', socket),
    close: () => timer.cancel(),
  };
}
