/** Decisions as messages. */
import type {
  DecisionExplanation,
  ExplainedHop as HopMessage,
  RoutingDecision,
} from '../../../gen/ductor/v1/routing.js';
import { storedDecisionOf, type Decision, type ExplainedHop, type Explanation } from '../../../routing/index.js';
import type { StoredDecision } from '../../../routing/index.js';
import { timestampOf } from './timestamp.js';

/** A decision that is stored, as a message. */
export function decisionMessage(stored: StoredDecision, explanation?: Explanation): RoutingDecision {
  // Written out: it is made for every decision, and objects spread together are slow.
  return {
    id: stored.decisionId,
    outcome: stored.outcome,
    outcomeClass: stored.outcomeClass,
    reason: stored.reason ?? '',
    slate: stored.slate.map(({ id, units }) => ({ recipientId: id, units })),
    assignmentIds: [...stored.assignmentIds],
    reservationIds: [],
    poolId: stored.poolId ?? '',
    ruleId: stored.ruleId ?? '',
    routableId: stored.routableId,
    explanation: explanation === undefined ? undefined : explanationMessage(explanation),
    decidedAt: timestampOf(stored.decidedAtUs),
    retryAt: stored.retryAtUs === null ? undefined : timestampOf(stored.retryAtUs),
    duplicateOf: stored.duplicateOf ?? '',
    claimItemId: stored.outcome === 'queued_for_claim' ? stored.decisionId : '',
    queuedBy: stored.queuedBy ?? '',
  };
}

/** A decision that is not stored: a preview. */
export function previewMessage(decision: Decision, explanation?: Explanation): RoutingDecision {
  const message = decisionMessage(storedDecisionOf(decision, []), explanation);
  // Nothing waits for a claim.
  message.claimItemId = '';
  return message;
}

function hopMessage({ dropped, ranking, attempts, propensity, enrichments, ...hop }: ExplainedHop): HopMessage {
  return {
    ...{ poolId: hop.poolId, poolName: hop.poolName, strategy: hop.strategy },
    ...{ considered: hop.considered, eligible: hop.eligible },
    dropped: dropped.map((each) => ({ ...each, recipients: [...each.recipients] })),
    ranking: ranking.map(({ score, limit, ...each }) => ({ ...each, score, limit: limit ?? 0 })),
    attempts: attempts.map(({ slate, admission, draws }) => ({ recipientIds: [...slate], admission, draws })),
    propensityNumerator: propensity?.[0] ?? 0,
    propensityDenominator: propensity?.[1] ?? 0,
    ...{ notes: [...hop.notes], reason: hop.reason ?? '', fallback: hop.fallback ?? '' },
    enrichments: enrichments.map(({ name, value, problem = '' }) => ({ name, value, problem })),
  };
}

function explanationMessage({ rules, hops, winners }: Explanation): DecisionExplanation {
  return {
    rules: rules.map(({ id, name, result }) => ({ ruleId: id, name, result })),
    hops: hops.map(hopMessage),
    winners: [...winners],
  };
}
