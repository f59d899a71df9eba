/** Time: everything that is due happens. Nothing happens early (M6). */
import { impossible } from '../../kernel/index.js';
import { claimedTooLate } from './claim-step.js';
import { isEndDecided, isHeld } from './draft.js';
import { endTimedOut } from './end-run.js';
import { beginSteps, runGateDue } from './gate.js';
import type { Disposition } from './inputs.js';
import { isUnbegun } from './queries.js';
import { routedTooLate } from './queued-step.js';
import { schedule } from './schedule.js';
import { endCancelled, failAttempt, plainFailure, type AttemptFailure } from './settle-attempt.js';
import { endWait } from './start-steps.js';
import { awaitedTooLong } from './signals.js';
import type { GateState, StepState } from './state.js';
import { callbackAt, emit, type Tick } from './tick.js';

/** Why time ended an attempt that is open. What would only come about again is not retried. */
function overdue(tick: Tick, step: StepState): AttemptFailure {
  const { timeoutMs, scheduleToStartTimeoutMs, retry } = callbackAt(tick, step.path);
  const { attempt, firstAtUs } = step;
  const total = retry.totalTimeoutMs;
  if (total !== null && firstAtUs > 0 && tick.nowUs >= firstAtUs + total * 1000) {
    return plainFailure('total_timeout', `all attempts together took longer than ${total} ms`);
  }
  if (step.status === 'RUNNING') {
    return plainFailure('timeout', `attempt ${attempt} did not end within ${timeoutMs} ms`);
  }
  const what = step.gate?.state === 'waiting' ? `it was not the turn of attempt ${attempt + 1}` : '';
  const message = `${what || `no worker began attempt ${attempt}`} within ${scheduleToStartTimeoutMs ?? 0} ms`;
  return { ...plainFailure('schedule_to_start_timeout', message), nonRetryable: true };
}

function timeOut(tick: Tick, step: StepState): void {
  const { path, attempt } = step;
  failAttempt(tick, step, overdue(tick, step));
  tick.commands.push({ kind: 'abort', path, attempt, reason: 'timed_out' });
}

/** A step that stands in line has waited too long, or the time came at which one that was let in begins. */
function endLine(tick: Tick, step: StepState, gate: GateState): void {
  const { path } = step;
  if (gate.state === 'held') return schedule(tick, path, null);
  const { code, message } = overdue(tick, step);
  const error = { code, message, step: path, attempt: 0, retryable: false, stack: '' };
  emit(tick, { kind: 'step_failed', path, attempt: 0, error });
  tick.ended.push(path);
}

function happen(tick: Tick, step: StepState): void {
  switch (step.status) {
    case 'SCHEDULED':
    case 'RUNNING':
      return timeOut(tick, step);
    case 'BACKOFF':
      return schedule(tick, step.path, null);
    case 'WAITING':
      if (step.claim !== undefined) return claimedTooLate(tick, step, step.claim);
      if (step.queued !== undefined) return routedTooLate(tick, step, step.queued);
      if (step.gate !== null) return endLine(tick, step, step.gate);
      return step.awaits ? awaitedTooLong(tick, step.path, step.awaits) : endWait(tick, step.path);
    case 'CANCELLING':
      return endCancelled(tick, step, true);
    case 'OPEN':
      emit(tick, { kind: 'step_continuing', path: step.path, atUs: 0 });
      tick.owners.add(step.path);
      return;
    case 'CLOSING':
    case 'COMPLETED':
    case 'FAILED':
    case 'SKIPPED':
    case 'CANCELLED':
      impossible('due-step', `step ${step.path} is ${step.status} and due`);
  }
}

/** Whether the time of the run is over and that is what ends it. */
function isRunOver(tick: Tick): boolean {
  const { deadlineUs, cancel, ending, compensating } = tick.draft;
  const isTimed = cancel === null && ending === null && compensating === null;
  return deadlineUs !== null && isTimed && deadlineUs <= tick.nowUs;
}

function isDue(tick: Tick): boolean {
  const dueUs = tick.draft.steps.nextDueUs();
  return dueUs !== null && dueUs <= tick.nowUs;
}

/** Steps that are due. */
function dueSteps(tick: Tick): readonly StepState[] {
  return [...tick.draft.steps.values()].filter((step) => step.dueAtUs !== null && step.dueAtUs <= tick.nowUs);
}

/** Whether with this wake the steps of a run begin that continues another one. */
function begins(tick: Tick): boolean {
  if (tick.rootsDue || !isUnbegun(tick.draft.before) || isEndDecided(tick.draft)) return false;
  beginSteps(tick);
  return true;
}

/** Lets all that is due happen, also what becomes due by it: a second wake at the same time finds nothing (M1). */
export function applyWake(tick: Tick): Disposition {
  if (tick.draft.closed !== null || isHeld(tick.draft)) return 'ignored';
  // First, so that nothing begins only to be stopped.
  const isOver = isRunOver(tick);
  if (isOver) endTimedOut(tick);
  const isRunDue = !isOver && runGateDue(tick);
  if (!isOver && !isRunDue && !isDue(tick)) return begins(tick) ? 'applied' : 'ignored';
  // A step whose failure parks the run holds back the others that are due.
  while (isDue(tick) && !isHeld(tick.draft)) {
    const due = dueSteps(tick);
    // A loop that finds nothing would never end; a throw parks the run.
    if (due.length === 0) impossible('due-none', `run ${tick.draft.before.runId} is due at no step`);
    for (const step of due) if (!isHeld(tick.draft)) happen(tick, step);
  }
  return 'applied';
}

/**
 * Lets what came due while the run was held happen, but for attempts that are overdue: they fail with the next wake. A
 * failure may park the run again, and a resume that parks would undo that when it is applied twice (M1).
 */
export function catchUp(tick: Tick): void {
  if (isRunOver(tick)) endTimedOut(tick);
  if (!isDue(tick)) return;
  for (const step of dueSteps(tick)) {
    if (step.status !== 'SCHEDULED' && step.status !== 'RUNNING') happen(tick, step);
  }
}
