/** Nothing that waits for time happens early (M6): entries against the due times recorded before them. */
import type { Entry, RunState, StepState } from '../../../engine/src/workflow/machine/index.js';

/** Whether the step waits for a signal. */
function awaits(path: string, { steps }: RunState): boolean {
  return Boolean(steps.get(path)?.awaits);
}

/** Whether its work waits in a queue: it is done by that, not by time. */
function isInQueue(step: StepState | undefined): boolean {
  return step?.claim !== undefined || step?.queued !== undefined;
}

/** Whether the entry may come only once the due time of its step has passed. */
function waitsForTime(entry: Entry, due: ReadonlyMap<string, number>, before: RunState): boolean {
  switch (entry.kind) {
    case 'step_completed':
      // A wait has no attempts; a DATAFLOW step has no due time.
      return entry.attempt === 0 && !isInQueue(before.steps.get(entry.path));
    case 'step_scheduled':
      // Who stands in line waits for its turn; its due time is when it gives up. What parked a run is tried at once.
      if (before.parked?.step === entry.path) return false;
      return entry.attempt > 1 && before.steps.get(entry.path)?.gate?.state !== 'waiting';
    case 'attempt_failed':
    case 'step_failed':
      return (
        entry.error.code === 'timeout' &&
        (due.has(entry.path) || before.steps.get(entry.path)?.status === 'RUNNING' || awaits(entry.path, before))
      );
    case 'step_cancelled':
      // Nobody gives a child up: it is let go.
      return entry.abandoned && entry.attempt > 0;
    default:
      return false;
  }
}

/** Keeps the due times that an entry sets. */
export function noteDue(entry: Entry, due: Map<string, number>): void {
  switch (entry.kind) {
    case 'step_waiting':
      due.set(entry.path, entry.wakeAtUs);
      return;
    case 'step_running':
    case 'step_cancelling':
      due.set(entry.path, entry.deadlineUs);
      return;
    case 'step_awaiting':
      if (entry.deadlineUs !== null) due.set(entry.path, entry.deadlineUs);
      return;
    case 'attempt_failed':
      due.set(entry.path, entry.retryAtUs);
      return;
    case 'step_scheduled':
      due.delete(entry.path);
      return;
    default:
      return;
  }
}

/**
 * Whether an entry is early.
 *
 * @param due due times set by earlier entries of the same row
 * @param nowUs database time at the commit
 */
export function isEarly(entry: Entry, due: ReadonlyMap<string, number>, before: RunState, nowUs: number): boolean {
  if (!('path' in entry) || !waitsForTime(entry, due, before)) return false;
  const step = before.steps.get(entry.path);
  // An approval may be due for its escalation before its time is over.
  const dueUs = due.get(entry.path) ?? (step?.awaits ? step.awaits.deadlineUs : step?.dueAtUs) ?? null;
  return dueUs !== null && dueUs > nowUs;
}
