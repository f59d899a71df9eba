/**
 * One port for everything: gRPC goes to grpc-js, all else to the HTTP/1.1 server.
 *
 *   built -> bound -> draining (answers end their connections) -> closed
 *
 * Invariants:
 * 1. A connection belongs to one of the two from its first bytes on, or is closed.
 * 2. There are at most as many connections as the limits say; more are closed at once.
 * 3. After close() no connection is open: those that do not end in time are cut.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { DuctorError, type Clock } from '../../kernel/index.js';
import type { HttpLimits } from '../http/limits.js';
import { firstBytes } from './first-bytes.js';
import { http1Server, type Handler } from './http1-server.js';
import { tlsGate, type TlsFiles } from './tls.js';

/** What the port needs. */
export interface PortOptions {
  readonly clock: Clock;
  readonly limits: HttpLimits;
  /** Takes connections that speak HTTP/2. */
  readonly http2: (socket: Socket) => void;
  /** Answers requests of HTTP/1.1. */
  readonly handler: Handler;
  /** Told of each connection that was closed because there were too many. */
  readonly onTooMany: () => void;
  /** Default: null, everything in clear. */
  readonly tls?: TlsFiles | null;
  /** Told of a renewed certificate that cannot be used. Default: nobody. */
  readonly onUnusableTls?: (error: unknown) => void;
}

/** The port. */
export interface Port {
  /** Listens. Returns the port's number. Throws address_unavailable. */
  bind(host: string, port: number): Promise<number>;
  /** From now on each answer over HTTP/1.1 is the last one of its connection. */
  drain(): void;
  /** Takes no more connections, ends idle ones, waits for answers, cuts what is left. */
  close(): Promise<void>;
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void =>
      reject(
        new DuctorError('address_unavailable', `cannot listen on ${host}:${port}: ${error.message}`, { cause: error }),
      );
    server.once('error', failed);
    server.listen({ host, port, backlog: 1_024 }, () => {
      server.off('error', failed);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Builds the port. Throws invalid_argument when the files of TLS cannot be used. */
export function createPort(options: PortOptions): Port {
  const { clock, limits, http2, handler, onTooMany, tls = null, onUnusableTls = (): void => undefined } = options;
  let isDraining = false;
  const http1 = http1Server(limits, (request, response) => {
    if (isDraining) response.setHeader('connection', 'close');
    // An answer that was under way when the drain began is the last one, too.
    response.once('finish', () => {
      if (isDraining) request.socket.end();
    });
    handler(request, response);
  });
  const open = new Set<Socket>();
  const silent = new Set<Socket>();
  /** By its first bytes, in clear or decrypted. */
  const sort = (socket: Socket): void => {
    silent.add(socket);
    socket.on('close', () => silent.delete(socket));
    firstBytes(socket, clock, limits.headersMs, (spoken) => {
      silent.delete(socket);
      if (spoken === 'http2') http2(socket);
      else http1.emit('connection', socket);
    });
  };
  const gate = tls && tlsGate(tls, { clock, handshakeMs: limits.headersMs }, sort, onUnusableTls);
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 }, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    if (gate === null) sort(socket);
    else gate.secure(socket);
  });
  server.maxConnections = limits.connections;
  server.on('drop', onTooMany);
  return {
    bind: (host, port) => listen(server, host, port),
    drain: () => void (isDraining = true),
    async close() {
      isDraining = true;
      gate?.close();
      await new Promise<void>((resolve) => {
        const timer = clock.setTimer(limits.closeMs, () => {
          for (const socket of open) socket.destroy();
        });
        server.close(() => {
          timer.cancel();
          resolve();
        });
        for (const socket of silent) socket.destroy();
        // Ends connections between requests, and the look at times.
        http1.close();
      });
    },
  };
}
