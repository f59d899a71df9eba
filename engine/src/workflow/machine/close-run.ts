/** Closes a run in which nothing is open any more. */
import { bodyOutput } from './body-output.js';
import { compensate } from './compensate.js';
import { closeContinued } from './continue.js';
import { isEndDecided } from './draft.js';
import { ownFailure, tryPlan } from './failure.js';
import { isRunPending } from './gate-state.js';
import { isBodyStatus } from './step-table.js';
import { emit, goesOn, placeAt, type Tick } from './tick.js';

const OUTPUT = 'the output of the run';

/** Ends the steps that run bodies, inner ones first: nothing of the bodies is under way any more. */
function endBodies(tick: Tick): void {
  if (tick.draft.steps.bodies() === 0) return;
  const owners = [...tick.draft.steps.values()].filter(({ status }) => isBodyStatus(status)).reverse();
  for (const { path } of owners) emit(tick, { kind: 'step_cancelled', path, attempt: 0, abandoned: false });
}

/** Whether nothing is open any more. */
function isQuiet({ draft }: Tick): boolean {
  return draft.steps.active() === 0 && draft.steps.waiting() === 0;
}

/** Closes a run of which it is decided how it ends. */
function closeAsDecided(tick: Tick): void {
  const { draft } = tick;
  if (draft.cancel !== null) {
    emit(tick, { kind: 'run_closed', status: 'CANCELLED', output: null, error: draft.error });
  } else if (draft.ending === 'CONTINUED') {
    closeContinued(tick);
  } else if (draft.ending !== null) {
    emit(tick, { kind: 'run_closed', status: draft.ending, output: draft.output, error: draft.error });
  } else {
    emit(tick, { kind: 'run_closed', status: 'FAILED', output: null, error: draft.error });
  }
}

/**
 * Closes the run when no step is open: as was decided before (asked to end, ended by a step or by its timeout,
 * failing), else COMPLETED. A run that does not complete is compensated first.
 */
export function closeWhenDone(tick: Tick): void {
  const isPending = tick.draft.steps.bodies() > 0 || isRunPending(tick.draft);
  if (!isQuiet(tick) || (goesOn(tick) && isPending)) return;
  endBodies(tick);
  if (!isEndDecided(tick.draft)) {
    const output = tryPlan(() => bodyOutput(tick, placeAt(tick, ''), OUTPUT));
    if (output.ok) return emit(tick, { kind: 'run_closed', status: 'COMPLETED', output: output.value, error: null });
    emit(tick, { kind: 'run_failing', error: ownFailure('', output.error, 'output: ') });
  }
  compensate(tick);
  if (isQuiet(tick)) closeAsDecided(tick);
}
