/** The HTTP/1.1 server behind the port: bounded headers and times, and answers for what is no HTTP. */
import { createServer, ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { DuctorError } from '../../kernel/index.js';
import { MAX_HEADER_BYTES, type HttpLimits } from '../http/limits.js';
import { errorJson } from '../http/respond.js';

/** Answers a request. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Refusal {
  readonly line: string;
  readonly error: DuctorError;
}

function refusal(
  line: string,
  code: 'invalid_argument' | 'deadline_exceeded',
  problem: string,
  remedy: string,
): Refusal {
  const details = [{ path: 'headers', value: '', problem, remedy }];
  return { line, error: new DuctorError(code, `the request ${problem}`, { details, remedy }) };
}

/** What a broken request is told. */
function refusalFor(error: Error & { readonly code?: string }): Refusal {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const problem = `has more than ${MAX_HEADER_BYTES} bytes of headers`;
    return refusal(
      '431 Request Header Fields Too Large',
      'invalid_argument',
      problem,
      'Send fewer or shorter headers.',
    );
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return refusal('408 Request Timeout', 'deadline_exceeded', 'did not come in time', 'Send it faster, or less.');
  }
  return refusal('400 Bad Request', 'invalid_argument', 'is not HTTP/1.1', 'Send HTTP/1.1, or gRPC over HTTP/2.');
}

function answerBroken(error: Error, socket: Duplex): void {
  // A peer that is gone, or an answer that has begun: nothing may follow.
  const isGone = 'code' in error && error.code === 'ECONNRESET';
  const answering = '_httpMessage' in socket ? socket._httpMessage : null;
  const hasBegun = answering instanceof ServerResponse && answering.headersSent;
  if (isGone || hasBegun || !socket.writable) {
    socket.destroy();
    return;
  }
  const { line, error: said } = refusalFor(error);
  const body = JSON.stringify({ error: errorJson(said) });
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const head = [`HTTP/1.1 ${line}`, 'content-type: application/json; charset=utf-8', length, 'connection: close'];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // The rest of what comes is of no interest, and one who only sends must not keep the connection.
  socket.resume();
}

/** Builds the server. Connections are given to it by emitting 'connection'; it never listens itself. */
export function http1Server(limits: HttpLimits, handler: Handler): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: limits.checkMs,
    insecureHTTPParser: false,
  });
  server.on('request', handler);
  server.on('clientError', answerBroken);
  server.timeout = limits.idleMs;
  server.maxRequestsPerSocket = 0;
  // Node looks at the times of a server from its 'listening' on; this one gets its connections from the port.
  server.emit('listening');
  return server;
}
