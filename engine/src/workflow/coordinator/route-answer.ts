/** What a ROUTE step is told of a decision: its outcome is the code of its error where it came to nothing. */
import type { DuctorError } from '../../kernel/index.js';
import type { Decision, LeftQueues } from '../../routing/index.js';
import type { ToldAnswer } from '../machine/inputs.js';
import type { RouteAnswer } from '../machine/routing-work.js';
import { formatTimestampUs } from '../machine/timestamp.js';
import { jsonValue } from '../machine/value.js';
import { numbersOf } from './selection-refusal.js';
import { shownRecipients } from './shown-recipients.js';

type Failed = RouteAnswer & { readonly kind: 'failed' };

/** Without a decision. */
export function failedBy({ code, message }: DuctorError): Failed {
  return { kind: 'failed', code, message, isRetryable: code === 'capacity_authority_unavailable' };
}

/** The answer: the decision as GetDecision shows it, with the names of those who got the work, or that it waits. */
export function routeAnswerOf(decision: Decision, assignmentIds: readonly string[]): RouteAnswer {
  const { input, outcome, poolId = '' } = decision;
  if (outcome === 'queued') return { kind: 'waiting', workId: input.decisionId, poolId };
  return routedOf(decision, assignmentIds);
}

/** What a step is told whose work has waited in a queue. */
export function toldAnswerOf(workId: string, came: LeftQueues['came']): ToldAnswer {
  if (came.kind === 'removed') {
    const why = came.reason === '' ? '' : `: ${came.reason}`;
    const message = `the work of decision ${workId} was taken out of its queue${why}`;
    return { kind: 'failed', code: 'work_removed', message, isRetryable: false };
  }
  const answer = routedOf(came.decision, came.assignmentIds);
  return answer.kind === 'failed' ? answer : { kind: 'routed', output: jsonValue(answer.output) };
}

type Routed = RouteAnswer & { readonly kind: 'routed' };

function routedOf(decision: Decision, assignmentIds: readonly string[]): Routed | Failed {
  const { input, outcome, outcomeClass, slate, poolId = '', rules } = decision;
  if (outcomeClass !== 'success' && outcome !== 'queued_for_claim') return failedOf(decision);
  const recipients = shownRecipients(decision).map((each, index) => {
    return { ...each, assignment_id: assignmentIds[index] ?? '' };
  });
  const output = {
    ...{ id: input.decisionId, outcome, outcome_class: outcomeClass },
    slate: slate.map(({ id, units }) => ({ recipient_id: id, units })),
    ...{ assignment_ids: assignmentIds, pool_id: poolId, rule_id: rules.rule?.id ?? '' },
    ...{ routable_id: input.routable.id, duplicate_of: input.duplicateOf ?? '' },
    claim_item_id: outcome === 'queued_for_claim' ? input.decisionId : '',
    ...{ decided_at: formatTimestampUs(input.nowUs), recipients },
  };
  return { kind: 'routed', output };
}

/** The answer to work that is to be claimed: other outcomes are errors, also those that gave it to somebody. */
export function claimAnswerOf(decision: Decision): RouteAnswer {
  const { input, outcome, outcomeClass, poolId = '', claimQueueId = '' } = decision;
  if (outcome === 'queued_for_claim') {
    const { decisionId } = input;
    return { kind: 'queued', itemId: decisionId, decisionId, queueId: claimQueueId, poolId };
  }
  if (outcomeClass !== 'success' && outcome !== 'queued') return failedOf(decision);
  const message = `the work came to ${outcome} in pool ${poolId}, and not to a claim queue: nothing of that is kept`;
  return { kind: 'failed', code: 'not_queued', message, isRetryable: false };
}

function failedOf({ input, outcome, outcomeClass, reason, poolId, hops, retryAtUs }: Decision): Failed {
  const last = hops.at(-1);
  const why = reason === undefined || reason === outcome ? '' : `, for ${reason}`;
  const where = poolId === undefined ? '' : ` in pool ${poolId}`;
  const numbers = outcome === 'recipient_capacity_exhausted' && last !== undefined ? numbersOf(last) : '';
  const later = retryAtUs === undefined ? '' : `; look again at ${formatTimestampUs(retryAtUs)}`;
  const message = `the work came to ${outcome}${why}${where}${numbers}${later} (decision ${input.decisionId})`;
  const isRetryable = outcomeClass === 'infrastructure' || outcomeClass === 'waiting';
  return { kind: 'failed', code: outcome, message, isRetryable };
}
