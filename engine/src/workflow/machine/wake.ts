/** Time: everything that is due happens. Nothing happens early (M6). */
import { impossible } from '../../kernel/index.js';
import type { Disposition } from './inputs.js';
import { endCancelled, failAttempt, plainFailure } from './settle-attempt.js';
import { endWait } from './start-steps.js';
import type { StepState } from './state.js';
import { callbackAt, emit, type Tick } from './tick.js';

function timeOut(tick: Tick, step: StepState): void {
  const { path, attempt } = step;
  const { timeoutMs } = callbackAt(tick, path);
  failAttempt(tick, step, plainFailure('timeout', `attempt ${attempt} did not end within ${timeoutMs} ms`));
  tick.commands.push({ kind: 'abort', path, attempt, reason: 'timed_out' });
}

function tryAgain(tick: Tick, step: StepState): void {
  const { path } = step;
  const attempt = step.attempt + 1;
  emit(tick, { kind: 'step_scheduled', path, attempt, input: null });
  tick.commands.push({ kind: 'dispatch', path, attempt });
}

function happen(tick: Tick, step: StepState): void {
  switch (step.status) {
    case 'RUNNING':
      return timeOut(tick, step);
    case 'BACKOFF':
      return tryAgain(tick, step);
    case 'WAITING':
      return endWait(tick, step.path);
    case 'CANCELLING':
      return endCancelled(tick, step, true);
    case 'SCHEDULED':
    case 'COMPLETED':
    case 'FAILED':
    case 'SKIPPED':
    case 'CANCELLED':
      impossible('due-step', `step ${step.path} is ${step.status} and due`);
  }
}

function isDue(tick: Tick): boolean {
  const dueUs = tick.draft.steps.nextDueUs();
  return dueUs !== null && dueUs <= tick.nowUs;
}

/** Lets all that is due happen, also what becomes due by it: a second wake at the same time finds nothing (M1). */
export function applyWake(tick: Tick): Disposition {
  if (tick.draft.closed !== null || tick.draft.parked !== null || !isDue(tick)) return 'ignored';
  while (isDue(tick)) {
    const due = [...tick.draft.steps.values()].filter((step) => step.dueAtUs !== null && step.dueAtUs <= tick.nowUs);
    // A loop that finds nothing would never end; a throw parks the run.
    if (due.length === 0) impossible('due-none', `run ${tick.draft.before.runId} is due at no step`);
    for (const step of due) happen(tick, step);
  }
  return 'applied';
}
