/** Ends attempts: results, lost workers, timeouts. The first outcome of the attempt the run waits for counts. */
import { WORKER_LOST } from './apply-entry.js';
import { MAX_VALUE_BYTES } from './failure.js';
import type { AttemptOutcome, Disposition, RunInput } from './inputs.js';
import { mayRetry, retryWaitUs } from './retry.js';
import type { RunFailure, StepState } from './state.js';
import { isActiveStatus } from './step-table.js';
import { callbackAt, emit, goesOn, type Tick } from './tick.js';
import { storableUs } from './timestamp.js';

/** Attempts of a step that may be lost with their worker in a row before the run is parked. */
const LOST_IN_A_ROW_MAX = 3;

/** How an attempt failed. */
export type AttemptFailure = Omit<Extract<AttemptOutcome, { readonly kind: 'failed' }>, 'kind'>;

/** A failure that is not the body's. */
export function plainFailure(code: string, message: string): AttemptFailure {
  return { code, message, stack: '', nonRetryable: false, retryAfterMs: null };
}

/** The step, when this attempt is the one the run waits for. */
function awaited(tick: Tick, path: string, attempt: number): StepState | undefined {
  const step = tick.draft.steps.get(path);
  return step !== undefined && step.attempt === attempt && isActiveStatus(step.status) ? step : undefined;
}

/** Ends an attempt as failed: the step backs off, fails, or (workers lost too often) the run is parked. */
export function failAttempt(tick: Tick, step: StepState, failure: AttemptFailure): void {
  const { retry } = callbackAt(tick, step.path);
  const retryable = mayRetry(retry, failure);
  const { path, attempt } = step;
  const { code, message, stack } = failure;
  const error: RunFailure = { code, message, step: path, attempt, retryable, stack };
  const parks = code === WORKER_LOST && step.lostInARow + 1 >= LOST_IN_A_ROW_MAX;
  // A run that is parked is dead or will go on: which one it is, shows later. Until then the step may try again.
  const mayGoOn = step.status !== 'CANCELLING' && tick.draft.cancel === null && tick.draft.error === null;
  if (!retryable || !mayGoOn || (attempt >= retry.maxAttempts && !parks)) {
    emit(tick, { kind: 'step_failed', path, attempt, error });
    tick.ended.push(path);
    return;
  }
  const waitUs = Math.max(retryWaitUs(retry, attempt, tick.draw()), (failure.retryAfterMs ?? 0) * 1000);
  emit(tick, { kind: 'attempt_failed', path, attempt, error, retryAtUs: storableUs(tick.nowUs + waitUs) });
  if (!parks || !goesOn(tick)) return;
  const lost = `${step.lostInARow + 1} workers in a row were lost while they ran step ${path}`;
  emit(tick, { kind: 'run_parked', code: WORKER_LOST, message: lost });
}

function complete(tick: Tick, step: StepState, outcome: AttemptOutcome & { readonly kind: 'completed' }): void {
  const { path, attempt } = step;
  const bytes = outcome.output.data.byteLength;
  if (bytes > MAX_VALUE_BYTES) {
    const message = `the output of step ${path} has ${bytes} bytes; the limit is ${MAX_VALUE_BYTES}`;
    failAttempt(tick, step, { ...plainFailure('value_too_large', message), nonRetryable: true });
    return;
  }
  emit(tick, { kind: 'step_completed', path, attempt, output: outcome.output });
  tick.ended.push(path);
}

/** Ends a step that was told to stop. */
export function endCancelled(tick: Tick, step: StepState, abandoned: boolean): void {
  emit(tick, { kind: 'step_cancelled', path: step.path, attempt: step.attempt, abandoned });
}

/** A worker's word on how an attempt ended. */
export function applyResult(tick: Tick, input: RunInput & { readonly kind: 'result' }): Disposition {
  const step = awaited(tick, input.path, input.attempt);
  if (step === undefined) return 'ignored';
  const { outcome } = input;
  if (outcome.kind === 'completed') complete(tick, step, outcome);
  else if (outcome.kind === 'failed') failAttempt(tick, step, outcome);
  else if (step.status === 'CANCELLING') endCancelled(tick, step, false);
  else failAttempt(tick, step, plainFailure('cancelled_by_worker', 'the worker stopped the attempt unasked'));
  return 'applied';
}

/** A worker has had the attempt since a while: from now on its timeout is watched. */
export function applyRunning(tick: Tick, input: RunInput & { readonly kind: 'running' }): Disposition {
  const step = awaited(tick, input.path, input.attempt);
  if (step === undefined || step.status !== 'SCHEDULED') return 'ignored';
  const { timeoutMs } = callbackAt(tick, step.path);
  const { path, attempt, worker } = input;
  const deadlineUs = storableUs(input.startedAtUs + timeoutMs * 1000);
  emit(tick, { kind: 'step_running', path, attempt, worker, deadlineUs });
  return 'applied';
}

/** The worker of an attempt is gone for good. */
export function applyLost(tick: Tick, input: RunInput & { readonly kind: 'lost' }): Disposition {
  const step = awaited(tick, input.path, input.attempt);
  if (step === undefined) return 'ignored';
  if (step.status === 'CANCELLING') endCancelled(tick, step, false);
  else {
    const worker = step.worker === null ? 'the worker' : `the worker ${step.worker}`;
    failAttempt(tick, step, plainFailure(WORKER_LOST, `${worker} is gone`));
  }
  return 'applied';
}
