/** Decides how a run ends while some of its steps may still be open. */
import type { RunFailure } from './state.js';
import { stopAll } from './tell-to-stop.js';
import { emit, type Tick } from './tick.js';
import { formatTimestampUs } from './timestamp.js';
import type { ValueSource } from './value.js';

/** Nothing handles this failure: no more steps begin; those under way may end, or are stopped. */
export function failRun(tick: Tick, error: RunFailure): void {
  emit(tick, { kind: 'run_failing', error });
  if (tick.plan.onFailure === 'cancel') stopAll(tick);
}

/** A FAIL step: the run ends with its error, and whatever is under way is stopped. */
export function endFailed(tick: Tick, error: RunFailure): void {
  emit(tick, { kind: 'run_failing', error });
  stopAll(tick);
}

/** A COMPLETE step: the run ends with its output, and whatever is under way is stopped. */
export function endCompleted(tick: Tick, output: ValueSource): void {
  emit(tick, { kind: 'run_ending', status: 'COMPLETED', output, error: null });
  stopAll(tick);
}

/** The time of the run is over: whatever is under way is stopped. A failure that came before stays its error. */
export function endTimedOut(tick: Tick): void {
  const { draft } = tick;
  const message = `the run did not end within its timeout, by ${formatTimestampUs(draft.deadlineUs ?? tick.nowUs)}`;
  const timeout = { code: 'run_timeout', message, step: '', attempt: 0, retryable: false, stack: '' };
  emit(tick, { kind: 'run_ending', status: 'TIMED_OUT', output: null, error: draft.error ?? timeout });
  stopAll(tick);
}
