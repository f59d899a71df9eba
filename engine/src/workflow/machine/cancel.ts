/** The request to end a run. It reaches every open step; the run is CANCELLED when all of them ended (M10). */
import type { Disposition, RunInput } from './inputs.js';
import type { StepState } from './state.js';
import { isActiveStatus, isWaitingStatus } from './step-table.js';
import { callbackAt, emit, type Tick } from './tick.js';
import { storableUs } from './timestamp.js';

/** Ends the steps that wait for time alone: nobody works on them. */
export function cancelWaiting(tick: Tick): void {
  if (tick.draft.steps.waiting() === 0) return;
  const waiting = [...tick.draft.steps.values()].filter((step) => isWaitingStatus(step.status));
  // Attempt 0: the attempts made have their outcomes already (M5).
  for (const { path } of waiting) emit(tick, { kind: 'step_cancelled', path, attempt: 0, abandoned: false });
}

function tellToStop(tick: Tick, step: StepState): void {
  const { path, attempt } = step;
  const deadlineUs = storableUs(tick.nowUs + callbackAt(tick, path).cancelTimeoutMs * 1000);
  emit(tick, { kind: 'step_cancelling', path, attempt, deadlineUs });
  tick.commands.push({ kind: 'abort', path, attempt, reason: 'cancelled' });
}

/** Asks the run to end. Evaluates nothing of the plan, so that a run parked for a faulty plan can be ended by it. */
export function applyCancel(tick: Tick, input: RunInput & { readonly kind: 'cancel' }): Disposition {
  const { draft } = tick;
  if (!draft.started || draft.closed !== null || draft.cancel !== null) return 'ignored';
  emit(tick, { kind: 'cancel_requested', reason: input.reason, requestedBy: input.requestedBy });
  cancelWaiting(tick);
  const active = [...draft.steps.values()].filter((step) => isActiveStatus(step.status));
  for (const step of active) tellToStop(tick, step);
  return 'applied';
}
