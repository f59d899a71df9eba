/** One HTTP exchange with a checked address: from the connection to the last byte of the answer. */
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { DuctorError } from '../kernel/index.js';
import type { EgressTarget } from './guard.js';

/** What is sent. */
export interface Exchange {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Longest body of an answer, bytes. */
  readonly maxBytes: number;
}

/** What came back, whatever its status. */
export interface EgressAnswer {
  readonly status: number;
  /** Names in lower case; several of one name joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Where it came from, after redirects. */
  readonly url: string;
}

/** Connections that are used again: a key is address, port and, with TLS, the name of the certificate. */
export interface Agents {
  readonly plain: HttpAgent;
  readonly secure: HttpsAgent;
}

const OWN_HEADERS = new Set(['host', 'content-length', 'accept-encoding', 'connection', 'transfer-encoding']);
const MAX_HEADER_BYTES = 32 * 1024;
const MAX_SOCKETS = 256;

/** Agents of a client. */
export function egressAgents(): Agents {
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS, scheduling: 'lifo' } as const;
  return { plain: new HttpAgent(options), secure: new HttpsAgent(options) };
}

/** The headers but those. */
export function without(headers: Exchange['headers'], names: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase())));
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

/** Reads the answer; what it calls back with first counts. */
function collect(message: IncomingMessage, maxBytes: number, done: (body: Buffer | DuctorError) => void): void {
  const encoding = message.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    done(
      new DuctorError(
        'host_unreachable',
        `the answer is compressed (${encoding.slice(0, 40)}), which was not asked for`,
      ),
    );
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) done(new DuctorError('value_too_large', `the answer has more than ${maxBytes} bytes`));
    else chunks.push(chunk);
  });
  message.on('end', () => done(Buffer.concat(chunks)));
  message.on('error', (error) => done(unreachable(error)));
  message.on('aborted', () => done(unreachable(undefined)));
}

function unreachable(cause: unknown): DuctorError {
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new DuctorError('host_unreachable', `the host did not answer as HTTP does${code}`, { cause });
}

function open(agents: Agents, target: EgressTarget, { method, headers, body }: Exchange): ClientRequest {
  const { url, address, port, isPlain, hostname } = target;
  const options = {
    ...{ method, host: address, port, path: `${url.pathname}${url.search}`, maxHeaderSize: MAX_HEADER_BYTES },
    headers: {
      ...without(headers, OWN_HEADERS),
      host: url.host,
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-length': body.length }),
    },
  };
  if (isPlain) return httpRequest({ ...options, agent: agents.plain });
  const servername = isIP(hostname) === 0 ? { servername: hostname } : {};
  return httpsRequest({ ...options, ...servername, agent: agents.secure });
}

/**
 * Sends and reads the whole answer. Throws host_unreachable, value_too_large, and the signal's reason when it says so.
 *
 * @param target what the guard let through
 */
export function exchange(
  agents: Agents,
  target: EgressTarget,
  request: Exchange,
  signal: AbortSignal,
): Promise<EgressAnswer> {
  return new Promise((resolve, reject) => {
    const sent = open(agents, target, request);
    const end = (outcome: EgressAnswer | DuctorError): void => {
      signal.removeEventListener('abort', give);
      if (!(outcome instanceof DuctorError)) return resolve(outcome);
      reject(outcome);
      sent.destroy();
    };
    const give = (): void => end(DuctorError.from(signal.reason));
    signal.addEventListener('abort', give);
    sent.on('error', (error) => end(unreachable(error)));
    sent.on('response', (message) =>
      collect(message, request.maxBytes, (body) => {
        if (body instanceof DuctorError) return end(body);
        end({ status: message.statusCode ?? 0, headers: headersOf(message), body, url: target.url.href });
      }),
    );
    if (signal.aborted) give();
    else sent.end(request.body);
  });
}
