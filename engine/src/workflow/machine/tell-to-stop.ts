/** Stops steps that are under way: the whole run ends, or only some of its steps are of no use any more. */
import type { StepState } from './state.js';
import { isActiveStatus, isWaitingStatus } from './step-table.js';
import { callbackAt, emit, type Tick } from './tick.js';
import { storableUs } from './timestamp.js';

/** Ends a step that waits for time alone: nobody works on it. Attempt 0: the attempts made have their outcomes (M5). */
function endWaiting(tick: Tick, path: string): void {
  emit(tick, { kind: 'step_cancelled', path, attempt: 0, abandoned: false });
}

/** Ends the steps that wait for time alone. */
export function cancelWaiting(tick: Tick): void {
  if (tick.draft.steps.waiting() === 0) return;
  const waiting = [...tick.draft.steps.values()].filter((step) => isWaitingStatus(step.status));
  for (const { path } of waiting) endWaiting(tick, path);
}

/**
 * Tells the attempt of a step to stop. One that was scheduled in this very tick never left and ends with that; one that
 * gets no time to end is abandoned with that, so that a wake at the same time finds nothing (M1).
 */
function tellToStop(tick: Tick, { path, attempt }: StepState): void {
  const isHere = tick.scheduled.has(path);
  const waitMs = isHere ? 0 : callbackAt(tick, path).cancelTimeoutMs;
  emit(tick, { kind: 'step_cancelling', path, attempt, deadlineUs: storableUs(tick.nowUs + waitMs * 1000) });
  if (!isHere) tick.commands.push({ kind: 'abort', path, attempt, reason: 'cancelled' });
  if (waitMs <= 0) emit(tick, { kind: 'step_cancelled', path, attempt, abandoned: !isHere });
}

/** Stops one step, whatever it does; nothing when it has ended or was told before. */
export function stopStep(tick: Tick, step: StepState): void {
  if (isWaitingStatus(step.status)) endWaiting(tick, step.path);
  else if (isActiveStatus(step.status) && step.status !== 'CANCELLING') tellToStop(tick, step);
}

/** Stops every step that is under way, but no compensation: that comes to its end. Evaluates nothing of the plan. */
export function stopAll(tick: Tick): void {
  if (tick.draft.compensating !== null) return;
  cancelWaiting(tick);
  if (tick.draft.steps.active() === 0) return;
  for (const step of [...tick.draft.steps.values()]) stopStep(tick, step);
}
