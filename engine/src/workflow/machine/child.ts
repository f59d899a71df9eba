/**
 * Child runs: what a step that waits for one hears, and what a run that ends says to its family.
 *
 * 1. A child is told to end at most once by each way its parent can end; messages go out with the row that says so.
 * 2. A step whose child was told to end has ended only when the child has, so that a run is CANCELLED only when all it
 *    waits for has ended (M10). An abandoned child is let go at once.
 * 3. A detached child is told when its parent closes, unless it is to be abandoned; nobody waits for it.
 */
import type { Disposition, RunInput } from './inputs.js';
import type { ChildState, RunFailure, StepState } from './state.js';
import { valueOf } from './resolve-source.js';
import { emit, type Tick } from './tick.js';

/** Tells a child to end, as its policy wants it. */
export function sayEnd(tick: Tick, { runId, policy }: ChildState): void {
  if (policy === 'abandon') return;
  const { runId: parent } = tick.draft.before;
  const input = { kind: policy, reason: `its parent run ${parent} ended`, requestedBy: `run ${parent}` } as const;
  tick.messages.push({ runId, input });
}

/** Stops a step that waits for its child. */
export function tellChild(tick: Tick, { path }: StepState, child: ChildState): void {
  if (child.told !== null) return;
  if (child.policy === 'abandon') {
    emit(tick, { kind: 'step_cancelled', path, attempt: 0, abandoned: true });
    return;
  }
  emit(tick, { kind: 'child_told', path, how: child.policy });
  sayEnd(tick, child);
}

const ENDINGS = {
  CANCELLED: ['child_cancelled', 'was cancelled'],
  TERMINATED: ['child_terminated', 'was terminated'],
} as const;

/** Why a step fails whose child did not complete: with the code of the child's own error. */
function failureOf(input: RunInput & { readonly kind: 'child_closed' }): RunFailure {
  const { path, runId, status, error } = input;
  const failure = (code: string, message: string): RunFailure => {
    return { code, message, step: path, attempt: 0, retryable: false, stack: '' };
  };
  if (status === 'CANCELLED' || status === 'TERMINATED') {
    const [code, how] = ENDINGS[status];
    return failure(code, `child run ${runId} ${how}`);
  }
  const why = error === null ? '' : `: ${error.message}`;
  return failure(error?.code ?? 'child_failed', `child run ${runId} failed${why}`);
}

/** The child that a step waits for has ended. */
export function applyChildClosed(tick: Tick, input: RunInput & { readonly kind: 'child_closed' }): Disposition {
  const { path, runId, status, output } = input;
  const step = tick.draft.steps.get(path);
  const child = step?.child ?? null;
  if (step === undefined || step.status !== 'WAITING' || child === null || child.runId !== runId) return 'ignored';
  if (status === 'COMPLETED' && output !== null) {
    emit(tick, { kind: 'step_completed', path, attempt: 0, output });
    tick.ended.push(path);
  } else if (child.told !== null) {
    // How a child ends that was told to, fails nothing.
    emit(tick, { kind: 'step_cancelled', path, attempt: 0, abandoned: false });
  } else {
    emit(tick, { kind: 'step_failed', path, attempt: 0, error: failureOf(input) });
    tick.ended.push(path);
  }
  return 'applied';
}

/** What a run says that closes in this tick: to its parent, if that waits, and to children that outlive their step. */
export function sayGoodbye(tick: Tick): void {
  const { draft } = tick;
  for (const { child } of draft.steps.values()) if (child?.isDetached === true) sayEnd(tick, child);
  const { family } = draft;
  const end = tick.entries.find((entry) => entry.kind === 'run_closed');
  // Its chain goes on: to its parent it has not ended.
  if (family === null || !family.notifies || end === undefined || end.status === 'CONTINUED') return;
  const { status, error } = end;
  const output = end.output === null ? null : valueOf(draft, end.output, '');
  const runId = draft.chain?.chainId ?? draft.before.runId;
  const input = { kind: 'child_closed', path: family.parentPath, runId, status, output, error } as const;
  tick.messages.push({ runId: family.parentId, input });
}
