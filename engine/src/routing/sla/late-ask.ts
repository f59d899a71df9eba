/** What is asked for when late work is routed again. */
import type { Routable } from '../core/routable.js';
import { hasWaited } from '../core/waited.js';
import type { RouteAsk } from '../lane/ask.js';

const MOST_URGENT = 1_000_000;

/** The ask as it is kept with a clock: the same work, without the recipient that is late. */
export function lateAsk(
  { routable, excluded, previous, pausedUs, waited, endsWith }: RouteAsk,
  was: { readonly poolId: string; readonly recipientId: string; readonly decidedUs: number },
  excludesCurrent: boolean,
): RouteAsk {
  const { poolId, recipientId, decidedUs } = was;
  return {
    // Its clock goes on from when it came in, not from when it is routed again.
    routable: { ...routable, receivedUs: routable.receivedUs ?? decidedUs },
    ...{ poolId, recipientId: undefined },
    excluded: excludesCurrent ? [...excluded, recipientId] : excluded,
    previous: [recipientId, ...previous],
    isLate: true,
    ...(pausedUs !== undefined && { pausedUs }),
    ...(endsWith !== undefined && { endsWith }),
    ...(waited !== undefined && { waited: hasWaited(waited) }),
  };
}

/** The same work, more urgent by so much. */
export function moreUrgent(routable: Routable, by: number): Routable {
  return by === 0 ? routable : { ...routable, priority: Math.min(routable.priority + by, MOST_URGENT) };
}

/** Whether a value is such an ask: this engine wrote it. */
export function isRouteAsk(value: unknown): value is RouteAsk {
  return typeof value === 'object' && value !== null && 'routable' in value && 'isLate' in value;
}
