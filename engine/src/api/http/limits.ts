/** Bounds of connections and requests over HTTP/1.1. */

/** All of it can be set shorter in tests; times in ms. */
export interface HttpLimits {
  /** Open connections of the port, whatever they speak; more are closed at once. */
  readonly connections: number;
  /** From the opening of a connection, or the first byte of a further request, to the end of the headers. */
  readonly headersMs: number;
  /** From the first byte of a request to its last: one who trickles is cut. */
  readonly requestMs: number;
  /** Silence between requests, and of a peer that does not read. */
  readonly idleMs: number;
  /** How often times are looked at. */
  readonly checkMs: number;
  /** A stream without news sends an empty line so often: proxies keep it, and a dead peer is noticed. */
  readonly keepAliveMs: number;
  /** How long a stop waits for requests that are under way. */
  readonly closeMs: number;
}

/** The defaults. */
export const HTTP_LIMITS: HttpLimits = {
  connections: 10_000,
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 5 * 60_000,
  checkMs: 2_000,
  keepAliveMs: 20_000,
  closeMs: 5_000,
};

/** Most bytes of all headers of a request together. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** A compressed body may grow to so many times its size. */
export const MAX_INFLATION = 20;
