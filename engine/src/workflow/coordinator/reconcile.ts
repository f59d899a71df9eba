/**
 * Compares what must be out by the state of a run with what is out by the ledger, and sends or stops what differs.
 * Done after every load, after a worker went or came, after a lease was renewed: whenever a command may have been lost.
 */
import type { AttemptRef } from './ports.js';
import type { Effects } from './effects.js';
import { abortsOf, dispatchesOf, taskOf } from './run-logic.js';
import type { RunCell } from './run-cell.js';
import type { World } from './world.js';

/** Attempts whose results wait for their tick. */
function answersOf(cell: RunCell): ReadonlySet<string> {
  const answers = new Set<string>();
  for (const { input } of cell.inputs) if (input.kind === 'result') answers.add(`${input.attempt}/${input.path}`);
  return answers;
}

/** An un-noted attempt: with a worker that is here, or in its grace, or to be sent. */
function unNoted(world: World, cell: RunCell, ref: AttemptRef, effects: Effects): void {
  const known = world.ledger.get(ref);
  if (known?.state === 'out') {
    if (known.workerId !== null && world.ledger.isConnected(known.workerId)) world.ledger.queueNote(known);
    return;
  }
  if (known?.state === 'answered' || known?.state === 'expected') return;
  const task = cell.plan === null || cell.state === null ? undefined : taskOf(cell.plan, cell.state, ref.path);
  if (task === undefined) return;
  if (known !== undefined || !cell.isUnsent) world.ledger.again(ref);
  effects.tasks.push(task);
}

/** A noted attempt: with its worker, or waited for; lost when its worker came back without it. */
function noted(world: World, ref: AttemptRef, worker: string): void {
  const known = world.ledger.get(ref);
  if (known === undefined || known.state === 'again') world.ledger.noted(worker, ref);
  else if (known.state === 'orphan' && world.ledger.isConnected(worker)) world.ledger.lose(ref);
}

/** Adds to `effects` what has to be done so that exactly what must be out is out. Needs a ready cell. */
export function reconcile(world: World, cell: RunCell, effects: Effects): void {
  const { state } = cell;
  if (state === null || cell.phase !== 'ready') return;
  if (world.isStopping() || !world.hasLease() || !world.shards.isSettled(cell.shard)) return;
  cell.needsReconcile = false;
  const answers = answersOf(cell);
  const hasAnswer = (ref: AttemptRef): boolean => answers.has(`${ref.attempt}/${ref.path}`);
  try {
    for (const open of dispatchesOf(state)) {
      if (hasAnswer(open)) continue;
      const ref: AttemptRef = { tenantId: open.tenantId, runId: open.runId, path: open.path, attempt: open.attempt };
      if (open.worker === null) unNoted(world, cell, ref, effects);
      else noted(world, ref, open.worker);
    }
    cell.isUnsent = false;
    for (const order of abortsOf(state)) if (!hasAnswer(order)) effects.repeatedAborts.push(order);
  } catch (error) {
    world.hooks.log('error', 'cannot derive what must be out', { run: cell.key, error });
  }
}
