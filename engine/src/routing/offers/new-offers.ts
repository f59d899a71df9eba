/** The offers that a decision makes, ready to be stored. */
import type { Decision } from '../pipeline/decision.js';
import type { RouteAsk } from '../lane/ask.js';
import { lateAsk } from '../sla/late-ask.js';
import type { NewOffer } from './sql/offers.js';

/** What is asked for once a recipient does not take it: the same work, of others of the pool that offered it. */
function nextAsk(ask: RouteAsk, { poolId = '', slate, hops, input }: Decision, recipientId: string): RouteAsk {
  // Each of a slate is replaced by itself: the others have it already.
  const others = slate.flatMap(({ id }) => (id === recipientId ? [] : [id]));
  const late = lateAsk(ask, { poolId, recipientId, decidedUs: input.nowUs }, true);
  const before = hops.length === 1 ? (ask.offers ?? 0) : 0;
  const excluded = [...new Set([...late.excluded, ...others])];
  return { ...late, recipientId: ask.recipientId, excluded, offers: before + 1 };
}

/**
 * The offers.
 *
 * @param assignmentIds one for each of the slate
 */
export function newOffers(
  tenantId: string,
  ask: RouteAsk,
  decision: Decision,
  assignmentIds: readonly string[],
): readonly NewOffer[] {
  const { outcome, slate, hops, input } = decision;
  const timeoutUs = hops.at(-1)?.snapshot.view.settings.offerTimeoutUs;
  if (outcome !== 'offered' || timeoutUs === undefined) return [];
  return assignmentIds.map((assignmentId, index) => {
    const again = JSON.stringify(nextAsk(ask, decision, slate[index]?.id ?? ''));
    return { tenantId, assignmentId, expiresUs: input.nowUs + timeoutUs, again };
  });
}
