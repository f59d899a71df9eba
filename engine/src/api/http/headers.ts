/** The headers of a request as the guard reads them: every value of those it asks for, so that a double key is seen. */
import type { IncomingMessage } from 'node:http';
import type { CallMetadata } from '../grpc/guard.js';

/**
 * Metadata of a call over HTTP/1.1. Not grpc-js's own: that one throws for characters that HTTP lets through, and a bad
 * key must be refused as a bad key. The size needs no look, the server bounds all headers together.
 */
export function callMetadata(request: IncomingMessage): CallMetadata {
  return {
    get: (name) => request.headersDistinct[name] ?? [],
    getMap: () => ({}),
  };
}

/** A media type with its parameters. */
export interface MediaType {
  /** In lower case: application/json. Empty when the header is absent. */
  readonly type: string;
  readonly charset: string | undefined;
}

/** The content type of a request. */
export function mediaType(request: IncomingMessage): MediaType {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/.exec(each)?.[1]).find(Boolean);
  return { type: type.trim(), charset };
}

/** Path and query of a request's target, as they were sent. An absolute target is taken for its path. */
export function targetOf({ url = '/' }: IncomingMessage): { readonly path: string; readonly query: string } {
  const relative = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '');
  const at = relative.indexOf('?');
  return at === -1
    ? { path: relative === '' ? '/' : relative, query: '' }
    : { path: relative.slice(0, at) || '/', query: relative.slice(at + 1) };
}
