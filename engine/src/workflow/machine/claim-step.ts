/**
 * CLAIM steps: their work waits in a claim queue until somebody takes it.
 *
 * 1. The item is written with the row that queues it, and taken out with the row by which the step ends without it.
 * 2. What became of the item comes as a message that was written with the change of the item: claimed, completed,
 *    expired, or withdrawn by whoever manages the work.
 * 3. Of a claim and the end of the step's time that meet, the item decides: whoever has claimed it has it, and the step
 *    learns of it. Of a step that is cancelled nobody claims the work afterwards; what is claimed stays claimed.
 */
import { impossible } from '../../kernel/index.js';
import { failStep } from './fail-step.js';
import type { Disposition, RunInput } from './inputs.js';
import type { PlanStep } from './plan.js';
import { finish, workOf } from './route-step.js';
import type { QueuedClaim, StepState } from './state.js';
import { emit, type Place, type Tick } from './tick.js';
import { formatTimestampUs } from './timestamp.js';

/** Begins a CLAIM step. Throws what its routable throws. Without an answer the step waits, as one that routes. */
export function startClaim(tick: Tick, step: PlanStep & { readonly type: 'CLAIM' }, place: Place, path: string): void {
  const deadlineUs = step.deadlineUs(place.expressions, tick.nowUs);
  const { until } = step;
  const answer = tick.gate.route({ ...workOf(tick, step, place, path), until });
  if (answer === null) return;
  if (answer.kind !== 'queued') return finish(tick, path, answer);
  const { itemId, decisionId, queueId, poolId } = answer;
  const claim = { itemId, decisionId, queueId, poolId, until };
  emit(tick, { kind: 'claim_queued', path, deadlineUs, ...claim });
  // What is due already happens now: a wake at the same time finds nothing (M1).
  const state = tick.draft.steps.get(path);
  if (state !== undefined && deadlineUs !== null && deadlineUs <= tick.nowUs) claimedTooLate(tick, state, claim);
}

/** The time of the step is over. */
export function claimedTooLate(tick: Tick, { path, dueAtUs }: StepState, claim: QueuedClaim): void {
  const { itemId, until } = claim;
  const came = tick.gate.withdraw(itemId);
  const isLost = came === 'withdrawn' || (came === 'claimed' && until === 'completed');
  // Without an answer the tick is computed anew, once the item is locked.
  if (!isLost) return emit(tick, { kind: 'claim_settling', path });
  const what = came === 'claimed' ? 'was not completed' : 'was not claimed';
  const message = `item ${itemId} ${what} by ${formatTimestampUs(dueAtUs ?? tick.nowUs)}`;
  failStep(tick, path, { code: 'timeout', message });
}

/** What became of the item. */
export function applyClaimTold(tick: Tick, input: RunInput & { readonly kind: 'claim_told' }): Disposition {
  const { path, itemId, what, output } = input;
  const step = tick.draft.steps.get(path);
  if (step?.claim === undefined || step.status !== 'WAITING' || step.claim.itemId !== itemId) return 'ignored';
  if (what === 'expired') {
    const message = `nobody claimed item ${itemId} of queue ${step.claim.queueId} in time`;
    failStep(tick, path, { code: 'claim_expired', message });
  } else if (what === 'withdrawn') {
    const message = `the work of item ${itemId} was taken away from whoever had claimed it`;
    failStep(tick, path, { code: 'claim_withdrawn', message });
  } else {
    if (output === null) impossible('claim-output', `item ${itemId} is ${what} by nobody`);
    emit(tick, { kind: 'step_completed', path, attempt: 0, output });
    tick.ended.push(path);
  }
  return 'applied';
}
