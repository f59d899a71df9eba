/** What a decision puts in the queue of a pool. */
import type { Decision } from '../pipeline/decision.js';
import { QUEUE_DEFAULTS } from '../pipeline/queueing.js';
import type { RouteAsk } from '../lane/ask.js';
import { orderedOf } from './order.js';
import { NO_POOL, type NewWaiting } from './waiting-item.js';

/** What waits is looked at so often, wherever it stands in its queue. */
const LOOK_EVERY_US = 60_000_000;

/** What was asked for, as it is asked again while it waits. */
function waitingAsk(ask: RouteAsk, decision: Decision, queueOf: string): RouteAsk {
  const { nowUs, decisionId, waited } = decision.input;
  const since = { firstId: waited?.firstId ?? decisionId, sinceUs: waited?.sinceUs ?? nowUs };
  const { routable, isBreached: _, ...rest } = ask;
  // Its clock goes on from when it came in; who was late with it has had its turn.
  return {
    ...rest,
    routable: { ...routable, receivedUs: routable.receivedUs ?? nowUs },
    waited: { ...since, queueOf },
    ...(ask.isLate === true && { toldUs: ask.toldUs ?? nowUs }),
  };
}

/** When to look at waiting work by itself. */
export function nextLookUs(nowUs: number, expiresUs: number): number {
  return Math.min(nowUs + LOOK_EVERY_US, Math.max(expiresUs, nowUs));
}

/** Until when the work of a decision may wait: its own end may come first. */
export function endOf({ waitsUntilUs = 0, input }: Decision): number {
  return Math.min(waitsUntilUs, input.routable.expiresUs ?? Number.POSITIVE_INFINITY);
}

/**
 * The work; undefined: the decision came to something else.
 *
 * @param waiter who is told what it comes to; null: nobody
 */
export function newWaiting(
  decision: Decision,
  ask: RouteAsk,
  principalId: string,
  waiter: string | null,
): NewWaiting | undefined {
  if (decision.outcome !== 'queued') return undefined;
  const { input, hops, poolId = '', reason = 'held_by_rule' } = decision;
  const { decisionId, nowUs, routable } = input;
  const view = hops.at(-1)?.snapshot.view;
  const queue = view?.id === poolId ? view.settings.queue : QUEUE_DEFAULTS;
  const again = waitingAsk(ask, decision, view?.id === poolId ? poolId : '');
  const expiresUs = endOf(decision);
  return {
    ...{ decisionId, principalId, poolId: poolId === '' ? NO_POOL : poolId, reason },
    firstId: again.waited?.firstId ?? decisionId,
    ...{ routableId: routable.id, routableType: routable.type, channel: routable.channel },
    ask: JSON.stringify(again),
    reach: hops.map(({ snapshot }) => snapshot.view.id),
    ...orderedOf(again, nowUs),
    ...{ expiresUs, nextUs: nextLookUs(nowUs, expiresUs) },
    ...{ ordering: queue.order, ageWeight: queue.ageWeight, boost: queue.boost },
    ...{ waiter, endsWith: ask.endsWith ?? null },
  };
}
