/** What a decision puts in a claim queue. */
import type { NewClaimItem } from '../../claims/index.js';
import { hasWaited } from '../core/waited.js';
import type { RouteAsk } from '../lane/ask.js';
import type { Decision } from '../pipeline/decision.js';
import type { PoolView } from '../pipeline/view.js';

/** Claim queues that decisions in a pool may come to. */
export function claimQueuesOf({ settings }: PoolView): readonly string[] {
  const { claimQueueId, fallbacks } = settings;
  const targets = fallbacks.map(({ kind, target }) => (kind === 'claim' ? target : undefined));
  return [claimQueueId, ...targets].filter((id) => id !== undefined);
}

/** The same work, to be decided again when nobody has claimed it in this queue. */
function expiredAsk(ask: RouteAsk, poolId: string, queueId: string, nowUs: number): RouteAsk {
  const { routable, excluded, previous, tried, isLate, pausedUs, waited, endsWith, expiredIn = [] } = ask;
  return {
    // Its clock goes on from when it came in.
    routable: { ...routable, receivedUs: routable.receivedUs ?? nowUs },
    ...{ poolId, recipientId: undefined, excluded, previous },
    ...(tried !== undefined && { tried }),
    ...(isLate !== undefined && { isLate }),
    ...(pausedUs !== undefined && { pausedUs }),
    ...(endsWith !== undefined && { endsWith }),
    ...(waited !== undefined && { waited: hasWaited(waited) }),
    expiredIn: [...expiredIn, queueId],
  };
}

/** Whether a value is what was asked for, as it is kept with an item: this engine wrote it. */
export function isExpiredAsk(value: unknown): value is RouteAsk {
  return typeof value === 'object' && value !== null && 'routable' in value && 'expiredIn' in value;
}

/**
 * The item; undefined: the decision came to something else. It has the id of its decision.
 *
 * @param waiter who is told what becomes of it; then nothing is decided again when it expires. Default: nobody
 */
export function claimItemOf(
  tenantId: string,
  decision: Decision,
  ask: RouteAsk,
  waiter: string | null = null,
): NewClaimItem | undefined {
  const { outcome, claimQueueId: queueId, poolId, claimants, input, hops } = decision;
  const view = hops.at(-1)?.snapshot.view;
  if (outcome !== 'queued_for_claim' || queueId === undefined || poolId === undefined || view === undefined) {
    return undefined;
  }
  const { routable, decisionId, nowUs } = input;
  const { ttlUs, waves, terms } = view.settings.claim;
  return {
    ...{ tenantId, queueId, poolId, decisionId, itemId: decisionId, waves, terms, waiter },
    endsWith: ask.endsWith ?? null,
    ask: JSON.stringify(expiredAsk(ask, poolId, queueId, nowUs)),
    ...{ routableId: routable.id, routableType: routable.type },
    ...{ channel: routable.channel, priority: routable.priority },
    claimants: claimants.map(({ id: recipientId, units }) => ({ recipientId, units })),
    // Work that is past its own end is claimed by nobody, either.
    ...{ queuedUs: nowUs, expiresUs: Math.min(nowUs + ttlUs, routable.expiresUs ?? Number.POSITIVE_INFINITY) },
  };
}
