/**
 * A run that takes over what another one came to: its first row holds the ends of the steps that are kept, as if the
 * engine had done them itself, and whatever follows from them begins in the same tick.
 */
import type { Entry } from './entries.js';
import type { Plan, PlanStep } from './plan.js';
import type { RunFailure, RunState, StepState } from './state.js';
import type { Value } from './value.js';

/** How a step that is kept ended. */
export interface KeptStep {
  readonly path: string;
  readonly end:
    | { readonly status: 'COMPLETED'; readonly output: Value }
    | { readonly status: 'FAILED'; readonly error: RunFailure }
    | { readonly status: 'SKIPPED' };
}

/** Which steps of a plan are kept and which run again. */
export interface ForkPlan {
  readonly kept: readonly KeptStep[];
  readonly again: readonly string[];
}

const HANDLING: ReadonlySet<string> = new Set(['FAILURE', 'ALWAYS', 'TIMEOUT']);

/** The end of a step as it can be taken over; undefined: it has none that can. */
function endOf(step: PlanStep, state: StepState | undefined): KeptStep['end'] | undefined {
  // What ends a run has to end this one, too; a compensation is of the run it undid.
  const { type } = step;
  if (type === 'COMPLETE' || type === 'FAIL' || type === 'CONTINUE_AS_NEW' || step.compensates !== null) {
    return undefined;
  }
  // What it reserved is held for another family: who is selected anew is admitted anew.
  if (type === 'SELECT' && state?.status === 'COMPLETED') return undefined;
  if (state?.status === 'COMPLETED' && state.output !== null) return { status: 'COMPLETED', output: state.output };
  if (state?.status === 'SKIPPED') return { status: 'SKIPPED' };
  if (state?.status !== 'FAILED' || state.error === null) return undefined;
  return step.outgoing.some((edge) => HANDLING.has(edge.type)) ? { status: 'FAILED', error: state.error } : undefined;
}

/** Steps whose compensation has begun: what they did is no more, or may not be. */
function undoneSteps({ steps }: Plan, state: RunState): ReadonlySet<string> {
  const begun = steps.filter(({ ref }) => (state.steps.get(ref)?.status ?? 'SKIPPED') !== 'SKIPPED');
  return new Set(begun.flatMap(({ compensates }) => compensates?.sourceRef ?? []));
}

/**
 * What a fork of a run from a step comes to: that step runs again, whatever follows from it by the edges of the plan,
 * and what has not ended in the run, or was undone, with what follows from that.
 *
 * @param plan of the version that the fork executes
 * @param from ref of a step of the plan; null: only what has not ended well runs again
 */
export function planFork(plan: Plan, state: RunState, from: string | null): ForkPlan {
  const again = new Set<string>();
  const kept: KeptStep[] = [];
  const gathered = new Map<string, string>();
  for (const step of plan.steps) if (step.type === 'GATHER') gathered.set(step.of, step.ref);
  const undone = undoneSteps(plan, state);
  const ends = new Map(
    plan.steps.map((step) => [step.ref, undone.has(step.ref) ? undefined : endOf(step, state.steps.get(step.ref))]),
  );
  const isAgain = ({ ref, incoming }: PlanStep): boolean =>
    ref === from || ends.get(ref) === undefined || incoming.some(({ sourceRef }) => again.has(sourceRef));
  // A scatter whose outputs are to be gathered anew has to run anew: they stand nowhere else.
  for (let size = -1; size !== again.size;) {
    size = again.size;
    for (const step of plan.steps) {
      if (step.compensates !== null) continue;
      if (isAgain(step) || again.has(gathered.get(step.ref) ?? '')) again.add(step.ref);
    }
  }
  for (const { ref } of plan.steps) {
    const end = ends.get(ref);
    if (!again.has(ref) && end !== undefined) kept.push({ path: ref, end });
  }
  return { kept, again: plan.steps.flatMap(({ ref }) => (again.has(ref) ? ref : [])) };
}

/** The entry that takes a step over. */
export function keptEntry({ path, end }: KeptStep): Entry {
  switch (end.status) {
    case 'COMPLETED':
      return { kind: 'step_completed', path, attempt: 0, output: end.output };
    case 'FAILED':
      return { kind: 'step_failed', path, attempt: 0, error: end.error };
    case 'SKIPPED':
      return { kind: 'step_skipped', path };
  }
}
