/** Signed HTTP callbacks: a handler for express, or for node:http itself. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { InvokeResponse } from '../gen/ductor/v1/callback.js';
import { DuctorError } from '../errors.js';
import { CallbackApp, type CallbackAppOptions } from './callback-app.js';
import { givenKeys, isLoopback, noKeys } from './development.js';
import { CallbackVerifier, type HeaderValues } from './verify.js';

/** What expressCallback takes. */
export interface ExpressCallbackOptions extends CallbackAppOptions {
  /**
   * Public key of the endpoint, `whpk_…`, or several while they change. Default: DUCTOR_SIGNING_KEY, by commas.
   */
  readonly signingKey?: string | readonly string[];
  /** Whom calls must be meant for: the audience of the endpoint, by default its URL. Default: the key alone says so. */
  readonly audience?: string;
  /** Largest body of a call, bytes. Default 3.5 MiB, more than the engine ever sends. */
  readonly bodyLimitBytes?: number;
  /** Takes unsigned calls, and only over the loopback and without a proxy. Never in production. Default false. */
  readonly insecureDevelopment?: boolean;
}

/** A handler: `app.post('/callbacks', expressCallback(options))`, before anything that reads bodies. */
export type CallbackHandler = (request: IncomingMessage, response: ServerResponse, next?: unknown) => void;

const CONTENT_TYPE = 'application/protobuf';
/** An input, what sub-steps have put out, progress, and what stands around them. */
const BODY_LIMIT_BYTES = 3_670_016;
const STATUS_OF: Readonly<Record<string, number>> = {
  unauthenticated: 401,
  invalid_argument: 400,
  message_too_large: 413,
  unsupported_media_type: 415,
  method_not_allowed: 405,
  limit_exceeded: 503,
};

/**
 * Makes the handler. Throws DuctorError invalid_argument without a key, unless insecureDevelopment says so.
 *
 * Ids of calls are remembered in this process, for ten minutes at most: of several processes behind one URL each
 * remembers its own. A call that is repeated to another one runs the attempt once more, whose result changes nothing.
 */
export function expressCallback(options: ExpressCallbackOptions): CallbackHandler {
  const given = givenKeys(options.signingKey);
  if (given.length === 0 && options.insecureDevelopment !== true) throw noKeys();
  const keys = given.length === 0 ? 'unsigned' : given;
  const app = new CallbackApp(options);
  const verifier = new CallbackVerifier({ keys, audience: options.audience, now: () => app.system.now() });
  const limit = options.bodyLimitBytes ?? BODY_LIMIT_BYTES;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    checkRequest(request, keys !== 'unsigned');
    const body = await bodyOf(request, limit);
    const call = verifier.verify(headersOf(request), body);
    const stop = new AbortController();
    response.once('close', () => stop.abort());
    const event = await app.handle(call, { signal: stop.signal });
    if (stop.signal.aborted) return;
    response.writeHead(200, { 'content-type': CONTENT_TYPE });
    response.end(InvokeResponse.encode({ event }).finish());
  };
  return (request, response) => {
    answer(request, response).catch((error: unknown) => refuse(app, response, error));
  };
}

function checkRequest(request: IncomingMessage, isVerified: boolean): void {
  if (request.method !== 'POST') throw new DuctorError('method_not_allowed', 'callbacks come by POST');
  if (request.headers['content-type'] !== CONTENT_TYPE) {
    throw new DuctorError('unsupported_media_type', `callbacks have the content-type ${CONTENT_TYPE}`);
  }
  if (isVerified) return;
  const { socket, headers } = request;
  const isProxied = headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;
  if (isLoopback(socket.localAddress) && isLoopback(socket.remoteAddress) && !isProxied) return;
  throw new DuctorError('unauthenticated', 'unsigned calls are taken from this machine only');
}

/** Headers as they came: what Node would join stands apart. */
function headersOf({ rawHeaders }: IncomingMessage): HeaderValues {
  return (name) => rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

/** The bytes of the body. Throws DuctorError message_too_large, internal when something else has read it. */
async function bodyOf(request: IncomingMessage, limit: number): Promise<Buffer> {
  const parsed: unknown = 'body' in request ? request.body : undefined;
  if (Buffer.isBuffer(parsed)) return bounded(parsed, limit);
  if (request.readableEnded) {
    throw new DuctorError('internal', 'the body was read before: mount expressCallback before body parsers');
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += part.length;
    if (bytes > limit) throw tooLarge(limit);
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): DuctorError {
  return new DuctorError('message_too_large', `the body has more than ${limit} bytes`);
}

function bounded(body: Buffer, limit: number): Buffer {
  if (body.length > limit) throw tooLarge(limit);
  return body;
}

function refuse(app: CallbackApp, response: ServerResponse, error: unknown): void {
  const known = error instanceof DuctorError ? error : undefined;
  const status = (known && STATUS_OF[known.code]) ?? 500;
  app.log(status === 500 ? 'error' : 'warn', 'a callback was refused', {
    code: known?.code ?? 'internal',
    problem: error instanceof Error ? error.message : String(error),
  });
  if (response.headersSent || response.destroyed) return;
  const message = status === 500 && known === undefined ? 'the app failed' : (known?.message ?? '');
  const retry = status === 503 ? { 'retry-after': '1' } : {};
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close', ...retry });
  response.end(`${message}\n`);
}
