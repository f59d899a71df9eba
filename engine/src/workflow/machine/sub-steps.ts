/** Parts of a body's work that are done: kept with the step, so that a later attempt does none of them again. */
import type { Disposition, RunInput } from './inputs.js';
import { failAttempt, plainFailure, type AttemptFailure } from './settle-attempt.js';
import type { StepState, SubStep } from './state.js';
import { isActiveStatus } from './step-table.js';
import { emit, type Tick } from './tick.js';

/** Most sub-steps of one step. */
export const MAX_SUB_STEPS = 1_000;

/** Most bytes of the outputs of all sub-steps of one step: they travel with each of its tasks, beside the input. */
export const MAX_SUB_STEP_BYTES = 1024 * 1024;

/** Bytes of what a step has kept. */
function subStepBytes(subSteps: readonly SubStep[]): number {
  let bytes = 0;
  for (const { output } of subSteps) bytes += output.absent?.size ?? output.data.byteLength;
  return bytes;
}

/** Why a step cannot keep one more output; null: it can. */
function excess({ path, subSteps }: StepState, name: string, bytes: number): AttemptFailure | null {
  if (subSteps.length >= MAX_SUB_STEPS) {
    const message = `sub-step ${name} of step ${path} is one too many; a step keeps at most ${MAX_SUB_STEPS}`;
    return { ...plainFailure('limit_exceeded', message), nonRetryable: true };
  }
  const total = subStepBytes(subSteps) + bytes;
  if (total <= MAX_SUB_STEP_BYTES) return null;
  const message = `with sub-step ${name} step ${path} keeps ${total} bytes; the limit is ${MAX_SUB_STEP_BYTES}`;
  return { ...plainFailure('value_too_large', message), nonRetryable: true };
}

/**
 * A body has done a part of its work. It counts as long as the step can have another attempt, and also when it comes
 * after its own attempt has ended: by another node it may be overtaken by the failure that followed it. The first
 * output under a name stays.
 */
export function applySubStep(tick: Tick, input: RunInput & { readonly kind: 'sub_step' }): Disposition {
  const { path, attempt, name, output } = input;
  const step = tick.draft.steps.get(path);
  if (step === undefined || (step.status !== 'BACKOFF' && !isActiveStatus(step.status))) return 'ignored';
  if (attempt < 1 || attempt > step.attempt || step.subSteps.some((known) => known.name === name)) return 'ignored';
  const failure = excess(step, name, output.data.byteLength);
  if (failure === null) {
    emit(tick, { kind: 'sub_step_completed', path, attempt, name, output });
    return 'applied';
  }
  // The SDK asks before it sends: this is an attempt of something else, or two attempts that did different things.
  if (attempt !== step.attempt || step.status === 'BACKOFF') return 'ignored';
  failAttempt(tick, step, failure);
  tick.commands.push({ kind: 'abort', path, attempt, reason: 'superseded' });
  return 'applied';
}
