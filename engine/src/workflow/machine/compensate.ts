/**
 * Undoes what completed steps did, once a run is about to close without having completed (a saga).
 *
 * 1. Compensations begin when nothing else is open any more, one at a time, in reverse order of completion; of steps
 *    that completed at the same instant, those later in the plan first. The journal keeps that order.
 * 2. Each has its own attempts. One that fails for good holds up none of the others, and not the end of the run.
 * 3. Only steps that completed are undone. A terminated run undoes nothing.
 * 4. A fault of the engine in one parks the run; it fails one of a run that nobody looks after any more.
 * 5. A cancel stops no compensation, and the timeout of the run is no limit to them.
 */
import { DuctorError } from '../../kernel/index.js';
import { isGivenUp } from './draft.js';
import { ownFailure, tryPlan } from './failure.js';
import type { Compensation, Plan, PlanStep } from './plan.js';
import { holdsFor, isEnded } from './resolve-edges.js';
import { startStep } from './start-steps.js';
import { emit, placeAt, planStepAt, type Tick } from './tick.js';

const ORDERS = new WeakMap<Plan, readonly PlanStep[]>();

/** The compensations of a plan: of sources later in it first. */
function compensationsOf(plan: Plan): readonly PlanStep[] {
  const known = ORDERS.get(plan);
  if (known !== undefined) return known;
  const places = new Map(plan.steps.map(({ ref }, place) => [ref, place]));
  const placeOf = ({ compensates }: PlanStep): number => places.get(compensates?.sourceRef ?? '') ?? 0;
  const steps = plan.steps.filter(({ compensates }) => compensates !== null).sort((a, b) => placeOf(b) - placeOf(a));
  ORDERS.set(plan, steps);
  return steps;
}

/** What there is to undo, in order. */
function dueCompensations(tick: Tick): readonly string[] {
  const due = compensationsOf(tick.plan).flatMap(({ ref, compensates }) => {
    const source = tick.draft.steps.get(compensates?.sourceRef ?? '');
    return source?.status === 'COMPLETED' ? [{ ref, doneUs: source.sinceUs }] : [];
  });
  // A stable sort: what completed at the same time stays in the order of the plan.
  return due.sort((a, b) => b.doneUs - a.doneUs).map(({ ref }) => ref);
}

function begin(tick: Tick, step: PlanStep, { condition }: Compensation): void {
  const { ref } = step;
  const holds = tryPlan(() => holdsFor(placeAt(tick, ''), condition));
  if (!holds.ok) {
    const error = ownFailure(ref, holds.error, 'condition of the compensation: ');
    emit(tick, { kind: 'step_failed', path: ref, attempt: 0, error });
  } else if (holds.value) startStep(tick, step, placeAt(tick, ''));
  else emit(tick, { kind: 'step_skipped', path: ref });
}

function beginOrFail(tick: Tick, step: PlanStep, compensation: Compensation): void {
  const { ref } = step;
  try {
    begin(tick, step, compensation);
  } catch (caught) {
    if (!isGivenUp(tick.draft) || tick.draft.steps.get(ref) !== undefined) throw caught;
    emit(tick, { kind: 'step_failed', path: ref, attempt: 0, error: ownFailure(ref, DuctorError.from(caught)) });
  }
}

/** Begins the next compensation of a quiet run that does not complete; nothing when there is none any more. */
export function compensate(tick: Tick): void {
  const { draft } = tick;
  if (draft.ending === 'COMPLETED' || draft.ending === 'CONTINUED') return;
  if (draft.compensating === null) {
    const steps = dueCompensations(tick);
    if (steps.length === 0) return;
    emit(tick, { kind: 'run_compensating', steps });
  }
  for (const ref of draft.compensating ?? []) {
    const step = planStepAt(tick, ref);
    if (draft.steps.get(ref) === undefined && step.compensates !== null) beginOrFail(tick, step, step.compensates);
    if (!isEnded(draft.steps.get(ref)?.status)) return;
  }
}
