/** Ends attempts: results, lost workers, timeouts. The first outcome of the attempt the run waits for counts. */
import { WORKER_LOST } from './apply-entry.js';
import { isGivenUp, triesAgain } from './draft.js';
import { MAX_VALUE_BYTES } from './failure.js';
import { mayFailOne } from './select-step.js';
import type { AttemptOutcome, Disposition, RunInput } from './inputs.js';
import { ownerOfScope, scopeOfPath } from './path.js';
import type { PlanStep } from './plan.js';
import { mayRetry, retryWaitUs } from './retry.js';
import { earliest } from './schedule.js';
import type { RunFailure, StepState } from './state.js';
import { isActiveStatus } from './step-table.js';
import { callbackAt, emit, isScopeOver, planStepAt, type Tick } from './tick.js';
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

type Callback = PlanStep & { readonly type: 'CALLBACK' };

/** When the next attempt begins. The wait is drawn whether or not one follows, from the seed of the tick. */
function retryAtUs(tick: Tick, planned: Callback, attempt: number, failure: AttemptFailure): number {
  const waitUs = retryWaitUs(planned.retry, attempt, tick.draw());
  return storableUs(tick.nowUs + Math.max(waitUs, (failure.retryAfterMs ?? 0) * 1000));
}

/** Whether no attempt may follow: all were made, or the time for all of them is over before the next one begins. */
function isExhausted({ retry }: Callback, step: StepState, nextAtUs: number): boolean {
  if (step.attempt >= retry.maxAttempts) return true;
  return retry.totalTimeoutMs !== null && nextAtUs >= step.firstAtUs + retry.totalTimeoutMs * 1000;
}

/** Whether the failure of a step is the workflow's own business: it has an edge, or a body around it may fail. */
function isHandled(tick: Tick, path: string): boolean {
  const step = planStepAt(tick, path);
  if (step.outgoing.some(({ type }) => type !== 'SUCCESS')) return true;
  const scope = scopeOfPath(path);
  if (scope === '') return false;
  const owner = planStepAt(tick, ownerOfScope(scope));
  const body = tick.draft.steps.get(ownerOfScope(scope))?.body;
  if (owner.type === 'SELECT' && body && mayFailOne(owner, body)) return true;
  if (owner.type === 'SCATTER' && body && body.failed < owner.tolerated(body.count)) return true;
  return isHandled(tick, ownerOfScope(scope));
}

/** Why the run has to be parked for this failure of the last attempt there is; null: it has not. */
function parkReason(tick: Tick, step: StepState, error: RunFailure, exhausted: boolean) {
  const { path, attempt } = step;
  if (isGivenUp(tick.draft)) return null;
  if (error.code === WORKER_LOST && step.lostInARow + 1 >= LOST_IN_A_ROW_MAX) {
    const message = `${step.lostInARow + 1} workers in a row were lost while they ran step ${path}`;
    return { code: WORKER_LOST, message, step: path };
  }
  if (!exhausted || tick.plan.onExhausted === 'fail' || isHandled(tick, path)) return null;
  const last = `${error.code}: ${error.message}`;
  const message = `step ${path} has no attempts left after ${attempt}; the last failed with ${last}`;
  return { code: 'attempts_exhausted', message, step: path };
}

/** Ends an attempt as failed: the step backs off or fails, or the run is parked. */
export function failAttempt(tick: Tick, step: StepState, failure: AttemptFailure): void {
  const { path, attempt } = step;
  const { draft } = tick;
  const planned = callbackAt(tick, path);
  const retryable = mayRetry(planned.retry, failure);
  const { code, message, stack, causes } = failure;
  const behind = causes === undefined ? {} : { causes };
  const error: RunFailure = { code, message, step: path, attempt, retryable, stack, ...behind };
  const isDecided = !triesAgain(draft) || isScopeOver(tick, scopeOfPath(path));
  if (step.status === 'CANCELLING' && !isDecided) {
    // A loser of a join: it was told to stop, and how it ended fails nothing.
    endCancelled(tick, step, false);
    return;
  }
  const nextAtUs = retryAtUs(tick, planned, attempt, failure);
  const exhausted = isExhausted(planned, step, nextAtUs);
  const parks = parkReason(tick, step, error, exhausted);
  // A run that is held is dead or will go on: which one it is, shows later. Until then the step may try again.
  if (!retryable || isDecided || (exhausted && parks === null)) {
    emit(tick, { kind: 'step_failed', path, attempt, error });
    tick.ended.push(path);
    return;
  }
  const progress = tick.progressOf(path, attempt);
  emit(tick, { kind: 'attempt_failed', path, attempt, error, retryAtUs: nextAtUs, progress });
  if (parks !== null && draft.parked === null) emit(tick, { kind: 'run_parked', ...parks });
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
  const { timeoutMs, retry } = callbackAt(tick, step.path);
  const { path, attempt, worker } = input;
  const totalUs = retry.totalTimeoutMs === null ? null : step.firstAtUs + retry.totalTimeoutMs * 1000;
  const deadlineUs = earliest(input.startedAtUs + timeoutMs * 1000, totalUs);
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

/** The attempt of a step that asks for heartbeats gave none for too long. */
export function applySilent(tick: Tick, input: RunInput & { readonly kind: 'silent' }): Disposition {
  const step = awaited(tick, input.path, input.attempt);
  if (step === undefined || step.status === 'CANCELLING') return 'ignored';
  const { heartbeatTimeoutMs } = callbackAt(tick, step.path);
  if (heartbeatTimeoutMs === null) return 'ignored';
  const { path, attempt } = step;
  const message = `attempt ${attempt} gave no sign of life for ${heartbeatTimeoutMs} ms`;
  failAttempt(tick, step, plainFailure('heartbeat_timeout', message));
  tick.commands.push({ kind: 'abort', path, attempt, reason: 'timed_out' });
  return 'applied';
}
