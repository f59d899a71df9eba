/**
 * ROUTE steps whose work waits in the queue of a pool.
 *
 * 1. The work is in its queue from the row on that says so, and is taken out with the row by which the step ends
 *    without it.
 * 2. What it comes to is a message that was written in the transaction that takes it out of the queue: a decision, or
 *    that somebody removed it. From one queue into another nothing is told.
 * 3. Of an assignment and the end of the step's time that meet, the work decides: what has left its queue has come to
 *    something, and the step learns of it. Of a step that is cancelled nothing is assigned afterwards; what is assigned
 *    stays so.
 */
import { failStep } from './fail-step.js';
import type { Disposition, RunInput } from './inputs.js';
import type { QueuedWork, StepState } from './state.js';
import { emit, type Tick } from './tick.js';
import { formatTimestampUs } from './timestamp.js';

type Told = RunInput & { readonly kind: 'route_told' };

/** The beginning of what a step says whose time is over before its work came to anything. */
export function tooLateText(workId: string): string {
  return `the work of decision ${workId} was given to nobody`;
}

/** The work of a step waits from now on, at most until `deadlineUs`; null: as long as its pool lets it. */
export function startQueued(tick: Tick, path: string, work: QueuedWork, deadlineUs: number | null): void {
  const { workId, poolId } = work;
  emit(tick, { kind: 'route_queued', path, deadlineUs, workId, poolId });
  // What is due already happens now: a wake at the same time finds nothing (M1).
  const state = tick.draft.steps.get(path);
  if (state !== undefined && deadlineUs !== null && deadlineUs <= tick.nowUs) routedTooLate(tick, state, work);
}

/** The time of the step is over. Without an answer the tick is computed anew, once the work is locked. */
export function routedTooLate(tick: Tick, { path, dueAtUs }: StepState, { workId }: QueuedWork): void {
  if (tick.gate.unqueue(workId) !== 'withdrawn') return emit(tick, { kind: 'route_settling', path });
  const message = `${tooLateText(workId)} by ${formatTimestampUs(dueAtUs ?? tick.nowUs)}`;
  failStep(tick, path, { code: 'timeout', message });
}

/** What became of the work. */
export function applyRouteTold(tick: Tick, { path, workId, answer }: Told): Disposition {
  const step = tick.draft.steps.get(path);
  if (step?.queued === undefined || step.status !== 'WAITING' || step.queued.workId !== workId) return 'ignored';
  if (answer.kind === 'failed') {
    failStep(tick, path, { ...answer, retryable: answer.isRetryable });
  } else {
    emit(tick, { kind: 'step_completed', path, attempt: 0, output: answer.output });
    tick.ended.push(path);
  }
  return 'applied';
}
