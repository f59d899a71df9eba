/**
 * HTTP requests through the guard: to checked addresses, bounded in time and size, no redirect unless asked for.
 *
 * Answers are taken uncompressed (`accept-encoding: identity`); a compressed one is refused, so that a small answer
 * cannot grow large.
 */
import { DuctorError, type Clock } from '../kernel/index.js';
import { orAborted } from './or-aborted.js';
import { egressAgents, exchange, without, type EgressAnswer } from './exchange.js';
import type { EgressGuard } from './guard.js';

/** What to send. */
export interface EgressRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. `host`, `content-length`, `accept-encoding` and `connection` are the sender's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** From the look-up to the last byte of the answer, redirects included, ms. */
  readonly timeoutMs: number;
  /** Longest body of an answer, bytes. */
  readonly maxBytes: number;
  /** Redirects that are followed, each checked anew; default 0: a redirect is the answer. */
  readonly maxRedirects?: number;
  /** Gives the request up. */
  readonly signal?: AbortSignal;
}

/** Sends requests through a guard. */
export interface EgressClient {
  /**
   * Sends and waits for the whole answer.
   *
   * Throws egress_refused; host_unreachable when there was no whole answer (no connection, reset, not HTTP);
   * deadline_exceeded; value_too_large; request_cancelled when the signal says so.
   */
  send(request: EgressRequest): Promise<EgressAnswer>;
  /** Ends idle connections. */
  close(): void;
}

/** Must not go to another origin by a redirect. */
const CREDENTIALS = new Set(['authorization', 'cookie', 'proxy-authorization']);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** The request that a redirect asks for; null: none is asked for. */
function redirected(request: EgressRequest, answer: EgressAnswer): EgressRequest | null {
  const { location } = answer.headers;
  if (!REDIRECTS.has(answer.status) || location === undefined || !URL.canParse(location, answer.url)) return null;
  const url = new URL(location, answer.url);
  const isSameOrigin = url.origin === new URL(answer.url).origin;
  const next = {
    ...request,
    url: url.href,
    headers: isSameOrigin ? request.headers : without(request.headers, CREDENTIALS),
  };
  const keepsMethod = answer.status >= 307 || request.method === 'GET' || request.method === 'HEAD';
  if (keepsMethod) return next;
  const { body: _, ...bodiless } = next;
  return { ...bodiless, method: 'GET' };
}

/** A client over this guard. */
export function egressClient(guard: EgressGuard, clock: Clock): EgressClient {
  const agents = egressAgents();
  const follow = async (request: EgressRequest, signal: AbortSignal): Promise<EgressAnswer> => {
    let next = request;
    for (let left = request.maxRedirects ?? 0; ; left -= 1) {
      const target = await orAborted(guard.check(next.url), signal);
      const answer = await exchange(agents, target, next, signal);
      const redirect = left > 0 ? redirected(next, answer) : null;
      if (redirect === null) return answer;
      next = redirect;
    }
  };
  return {
    async send(request) {
      const limit = new AbortController();
      const late = new DuctorError('deadline_exceeded', `no whole answer within ${request.timeoutMs} ms`);
      const timer = clock.setTimer(request.timeoutMs, () => limit.abort(late));
      const stop = (): void => limit.abort(new DuctorError('request_cancelled', 'the request was given up'));
      request.signal?.addEventListener('abort', stop);
      if (request.signal?.aborted === true) stop();
      try {
        return await follow(request, limit.signal);
      } finally {
        timer.cancel();
        request.signal?.removeEventListener('abort', stop);
      }
    },
    close() {
      agents.plain.destroy();
      agents.secure.destroy();
    },
  };
}
