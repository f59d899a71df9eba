/** Ends a run at once, whatever is open. */
import { sayEnd } from './child.js';
import type { Disposition, RunInput } from './inputs.js';
import { isActiveStatus, isBodyStatus, isWaitingStatus } from './step-table.js';
import { emit, type Tick } from './tick.js';

/**
 * Closes the run in this tick. Attempts that are out are told to stop and count as abandoned: what they still answer
 * meets a closed run.
 */
export function applyTerminate(tick: Tick, input: RunInput & { readonly kind: 'terminate' }): Disposition {
  const { draft } = tick;
  if (!draft.started || draft.closed !== null) return 'ignored';
  emit(tick, { kind: 'run_terminated', reason: input.reason, requestedBy: input.requestedBy });
  for (const { path, attempt, status, child } of [...draft.steps.values()]) {
    if (child !== null && isWaitingStatus(status)) sayEnd(tick, child);
    if (isWaitingStatus(status) || isBodyStatus(status))
      emit(tick, { kind: 'step_cancelled', path, attempt: 0, abandoned: child !== null });
    if (!isActiveStatus(status)) continue;
    const isHere = tick.scheduled.has(path);
    emit(tick, { kind: 'step_cancelled', path, attempt, abandoned: !isHere });
    if (!isHere) tick.commands.push({ kind: 'abort', path, attempt, reason: 'cancelled' });
  }
  emit(tick, { kind: 'run_closed', status: 'TERMINATED', output: null, error: draft.error });
  return 'applied';
}
