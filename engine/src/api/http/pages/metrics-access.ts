/** Who may read the metrics: they name no tenant, yet tell how busy an engine is. */
import type { IncomingHttpHeaders } from 'node:http';

/** Who: this machine alone, everybody, nobody. */
export type MetricsAccess = 'loopback' | 'all' | 'off';

/** What tells where a request comes from; of IncomingMessage. */
export interface Origin {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingHttpHeaders;
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** Whether the request may read them. A request that a proxy passes on comes from elsewhere, whoever its peer is. */
export function mayReadMetrics(access: MetricsAccess, { socket, headers }: Origin): boolean {
  if (access !== 'loopback') return access === 'all';
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  return !isForwarded && LOOPBACK.test(socket.remoteAddress ?? '');
}
