/** Why a step is not done yet, in words for people (M7). */
import { isHeld } from './draft.js';
import { isClosed } from './queries.js';
import { isEnded } from './resolve-edges.js';
import type { Awaited, ChildState, GateState, QueuedClaim, QueuedWork, RunState, StepState } from './state.js';
import { formatTimestampUs } from './timestamp.js';

function time(dueAtUs: number | null): string {
  return dueAtUs === null ? 'an unknown time' : formatTimestampUs(dueAtUs);
}

function until(dueAtUs: number | null): string {
  return dueAtUs === null ? '' : `, at most until ${formatTimestampUs(dueAtUs)}`;
}

function workerOf({ worker }: StepState): string {
  return worker === null ? 'an unknown worker' : `worker ${worker}`;
}

const WHAT_ENDS = {
  scatter: 'items have ended',
  loop: 'iterations at most have ended',
  select: 'recipients have been gone through',
  slate: 'runs of it have ended',
} as const;

function progress({ body }: StepState): string {
  if (body === null) return 'nothing of which has begun';
  const ended = body.completed + body.failed + body.stopped;
  const what = WHAT_ENDS[body.kind];
  return `${ended} of ${body.count} ${what}${body.failed === 0 ? '' : `, ${body.failed} of them failed`}`;
}

function childOf({ runId, familySlug, told }: ChildState): string {
  return `child run ${runId} of ${familySlug} to end${told === null ? '' : `; it was told to (${told})`}`;
}

function awaitedReason({ name, deadlineUs, approval }: Awaited): string {
  if (approval === null) return `signal ${name}${until(deadlineUs)}`;
  const who = approval.assignees === null ? '' : ` by ${approval.assignees.join(' or ')}`;
  const later = approval.escalation === null ? '' : `, escalated ${time(approval.escalation.atUs)}`;
  return `a decision${who}: ${approval.options.join(' or ')}${later}${until(deadlineUs)}`;
}

function claimReason({ itemId, queueId, until: wanted }: QueuedClaim, dueAtUs: number | null): string {
  return `item ${itemId} of claim queue ${queueId} to be ${wanted}${until(dueAtUs)}`;
}

function queueReason({ workId, poolId }: QueuedWork, dueAtUs: number | null): string {
  const where = poolId === '' ? 'what a rule holds' : `the queue of pool ${poolId}`;
  return `the work of decision ${workId} to leave ${where}${until(dueAtUs)}`;
}

/** What somebody waits for who asked for something. */
export function explainGate({ state, startAtUs, wants }: GateState): string {
  if (state === 'held') return `the turn that its rate gives it, at ${time(startAtUs)}`;
  const keys = wants.flatMap((want) =>
    want.kind === 'rate' ? [] : [`${JSON.stringify(want.key)} (at most ${want.limit})`],
  );
  return `room under ${keys.length === 1 ? 'the key' : 'the keys'} ${keys.join(', ')}`;
}

function ownReason(step: StepState): string {
  switch (step.status) {
    case 'SCHEDULED':
      return `a worker with a free slot to take attempt ${step.attempt}${until(step.dueAtUs)}`;
    case 'RUNNING':
      return `attempt ${step.attempt} on ${workerOf(step)}${until(step.dueAtUs)}`;
    case 'BACKOFF': {
      const why = step.error === null ? '' : `, after ${step.error.code}: ${step.error.message}`;
      return `attempt ${step.attempt + 1} at ${time(step.dueAtUs)}${why}`;
    }
    case 'WAITING':
      if (step.child !== null) return childOf(step.child);
      if (step.gate !== null) return explainGate(step.gate);
      if (step.claim !== undefined) return claimReason(step.claim, step.dueAtUs);
      if (step.queued !== undefined) return queueReason(step.queued, step.dueAtUs);
      return step.awaits ? awaitedReason(step.awaits) : time(step.dueAtUs);
    case 'CANCELLING':
      return `attempt ${step.attempt} to stop${until(step.dueAtUs)}`;
    case 'OPEN':
      return `its body, ${progress(step)}`;
    case 'CLOSING':
      return `what is under way of its body to end, ${progress(step)}`;
    case 'COMPLETED':
    case 'FAILED':
    case 'SKIPPED':
    case 'CANCELLED':
      return '';
  }
}

function heldReason(state: RunState): string | null {
  if (state.parked !== null)
    return `the run to be resumed; it is parked for ${state.parked.code}: ${state.parked.message}`;
  if (state.paused !== null) return 'the run to be resumed; it is paused';
  if (state.cancel !== null) return 'nothing any more: the run is being cancelled';
  if (state.ending === 'COMPLETED') return 'nothing any more: the run is complete';
  if (state.ending === 'CONTINUED') return 'nothing any more: the run continues as new';
  if (state.ending === 'TIMED_OUT') return 'nothing any more: the time of the run is over';
  if (state.error !== null) return `nothing any more: the run is failing with ${state.error.code}`;
  return null;
}

/**
 * What a step waits for; empty when it has ended or the run is closed.
 *
 * @param step undefined for a step that has not been reached
 */
export function explainStep(state: RunState, step: StepState | undefined): string {
  if (isClosed(state) || isEnded(step?.status)) return '';
  if (step === undefined) return heldReason(state) ?? 'the steps before it';
  const own = ownReason(step);
  // While the run is held, an attempt that is out may still answer; everything else stands still.
  if (!isHeld(state)) return own;
  return step.status === 'RUNNING' ? own : (heldReason(state) ?? own);
}
