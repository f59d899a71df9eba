/** How answers leave over HTTP/1.1. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { wireError } from '../grpc/errors/wire-error.js';
import type { DuctorError } from '../../kernel/index.js';

/** Headers of every answer: nothing is sniffed, nothing is kept. */
const COMMON = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/** The type of JSON answers. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The error as JSON shows it at every door: the names of ductor.v1.Error. */
export function errorJson(error: DuctorError): { readonly [key: string]: unknown } {
  const { retryAfter, ...said } = wireError(error);
  return { ...said, retry_after: retryAfter };
}

/**
 * Sends a whole answer, unless one has begun or nobody listens. When the request was not read to its end the connection
 * is closed after it: what is still to come is no next request.
 */
export function respond(
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body: string | Uint8Array,
): void {
  if (response.headersSent || response.destroyed) return;
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const closing = response.req.complete ? {} : { connection: 'close' };
  response.writeHead(status, { ...COMMON, ...headers, ...closing, 'content-length': length });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/** Begins an answer of unknown length. */
export function beginStream(response: ServerResponse, contentType: string): void {
  response.writeHead(200, { ...COMMON, 'content-type': contentType, 'x-accel-buffering': 'no' });
  response.flushHeaders();
}

/** Headers that an error brings beside its body. */
export function errorHeaders({ retryAfterMs, code }: DuctorError): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  if (code === 'unauthenticated') headers['www-authenticate'] = 'Bearer';
  return headers;
}

/** Sends an error as REST and the pages show it: `{"error": {...}}` with the status of its code. */
export function respondError(response: ServerResponse, error: DuctorError, headers: OutgoingHttpHeaders = {}): void {
  const all = { ...errorHeaders(error), ...headers, 'content-type': JSON_TYPE };
  respond(response, error.kind.http, all, JSON.stringify({ error: errorJson(error) }));
}
