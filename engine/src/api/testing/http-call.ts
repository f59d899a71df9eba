/** Calls over HTTP/1.1 for tests: plain requests, and the JSON of what came back. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

/** What came back. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body parsed; undefined when it is no JSON. */
  readonly json: unknown;
}

/** A request. */
export interface HttpCall {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Sends a request on a connection of its own.
 *
 * @param address host:port
 */
export function httpCall(address: string, { method = 'GET', path, headers = {}, body }: HttpCall): Promise<HttpAnswer> {
  const [host, port] = address.split(':');
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host, port, method, path, headers: { ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const whole = Buffer.concat(chunks);
        const { statusCode = 0, headers: received } = response;
        resolve({ status: statusCode, headers: received, body: whole, json: parsed(whole) });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Headers of a caller. */
export function bearer(apiKey: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
}

/** A member of parsed JSON by its path; undefined when it is not there. */
export function member(json: unknown, ...path: readonly (string | number)[]): unknown {
  let found: unknown = json;
  for (const key of path) {
    found =
      typeof found === 'object' && found !== null
        ? Object.entries(found).find(([k]) => k === `${key}`)?.[1]
        : undefined;
  }
  return found;
}
