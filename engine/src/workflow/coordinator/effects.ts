/**
 * What is done after a commit, and only after it: answers, tasks, aborts, news of public changes. Gathered over the
 * whole batch, so that the invoker is called once.
 */
import type { RunState } from '../machine/state.js';
import type { RunChange } from './coordinator.js';
import type { AbortOrder, AttemptRef, Task } from './ports.js';
import { runOutput } from './run-logic.js';
import { keyOf } from './run-cell.js';
import type { World } from './world.js';

/** Things to do, in order of gathering. */
export interface Effects {
  /** Answers to callers; each may throw, none stops the others. */
  readonly answers: (() => void)[];
  /** Attempts that a tick just told to stop. */
  readonly aborts: AbortOrder[];
  /** Attempts that were told to stop before, perhaps by another node. */
  readonly repeatedAborts: AbortOrder[];
  /** Attempts to be taken off the queue of the invoker. */
  readonly withdrawals: AttemptRef[];
  readonly tasks: Task[];
  readonly changes: RunChange[];
}

/** Nothing to do yet. */
export function noEffects(): Effects {
  return { answers: [], aborts: [], repeatedAborts: [], withdrawals: [], tasks: [], changes: [] };
}

/** What the world is told of a run. */
export function changeOf(state: RunState): RunChange {
  const error = state.status === 'COMPLETED' ? null : state.error;
  const { continuedAs } = state;
  const closed = state.closedAtUs === null ? null : { output: runOutput(state), error, continuedAs };
  return { tenantId: state.tenantId, runId: state.runId, status: state.status, closed };
}

/**
 * Stops attempts. One that no worker ever got has ended with that, unless another worker may have it: this node sent it
 * a second time, or knows that it was out.
 */
function abort(world: World, effects: Effects): void {
  if (effects.repeatedAborts.length > 0) world.invoker.abort(effects.repeatedAborts);
  if (effects.aborts.length === 0) return;
  for (const ref of world.invoker.abort(effects.aborts)) {
    const known = world.ledger.get(ref);
    if (known?.state === 'again') world.ledger.clear(ref);
    if (known !== undefined) continue;
    const outcome = { kind: 'cancelled' } as const;
    const input = { kind: 'result', path: ref.path, attempt: ref.attempt, outcome } as const;
    world.deliver(ref, { input, inboxId: null, settled: null });
  }
}

/** Sends and stops attempts; past the lease it only leaves a mark for the time after the renewal. */
function order(world: World, effects: Effects): void {
  if (!world.hasLease()) {
    for (const ref of [...effects.tasks, ...effects.aborts]) {
      const cell = world.cache.get(keyOf(ref));
      if (cell !== undefined) cell.needsReconcile = true;
    }
    return;
  }
  try {
    abort(world, effects);
    if (effects.withdrawals.length > 0) world.invoker.withdraw?.(effects.withdrawals);
    if (effects.tasks.length > 0) world.invoker.dispatch(effects.tasks);
  } catch (error) {
    world.hooks.log('error', 'the invoker failed', { error });
  }
}

/** Does all of it. */
export function perform(world: World, effects: Effects): void {
  for (const answer of effects.answers) {
    try {
      answer();
    } catch (error) {
      world.hooks.log('error', 'a caller failed on its answer', { error });
    }
  }
  if (!world.isEnded()) order(world, effects);
  if (effects.changes.length > 0) world.tell(effects.changes);
}
