/**
 * What follows from the verdict on a tick: the slot's next phase, and the effects.
 *
 *   written            -> state replaced, waiting callers answered, commands carried out
 *   conflict, unknown  -> state forgotten, inputs kept in front, loaded again (applying them twice changes nothing)
 *   key_taken          -> the start leaves; who holds its key is looked up
 *   fenced             -> inputs kept; the end of the incarnation hands them on
 */
import type { Effects } from './effects.js';
import { changeOf } from './effects.js';
import type { TickWrite } from './ports.js';
import { reconcile } from './reconcile.js';
import { isActive, taskOf, wakeAtUs } from './run-logic.js';
import { forget, isIdle, type PendingInput, type RunSlot } from './run-slot.js';
import { inputsOf, type Tick } from './tick.js';
import type { RunState } from '../machine/state.js';
import type { World } from './world.js';

/** Conflicts of one run in a row after which each further one waits a while. */
const FREE_CONFLICTS = 3;
const CONFLICT_WAIT_MS = 1_000;

/** Puts inputs back in front of those that came meanwhile. */
export function putBack(slot: RunSlot, inputs: readonly PendingInput[]): void {
  slot.inputs = slot.inputs.length === 0 ? [...inputs] : [...inputs, ...slot.inputs];
}

/** Arms the next wake, or lets the run go from memory: closed, or waiting for longer than the horizon. */
export function settleDown(world: World, slot: RunSlot, state: RunState): void {
  const dueUs = wakeAtUs(state);
  const horizonUs = world.clock.nowUs() + world.options.wakeHorizonMs * 1000;
  const isNear = dueUs !== null && dueUs <= horizonUs;
  if (dueUs !== null && (isNear || isActive(state))) world.timers.arm(slot.key, dueUs);
  else world.timers.disarm(slot.key);
  if (!isNear && !isActive(state) && isIdle(slot)) world.cache.drop(slot);
}

/** Answers whoever waits for these inputs. */
function answer(world: World, tick: Tick, effects: Effects): void {
  for (const [index, pending] of tick.inputs.entries()) {
    const { input, settled } = pending;
    if (pending.inboxId !== null) world.released(pending.inboxId);
    if (input.kind === 'result') {
      const { tenantId, runId } = tick.slot;
      world.ledger.clear({ tenantId, runId, path: input.path, attempt: input.attempt });
    }
    const ack = tick.dispositions[index] === 'applied' ? 'recorded' : 'already_settled';
    if (settled !== null) effects.answers.push(() => settled(ack));
  }
}

/** Adds the commands of a tick, or leaves them to a later reconcile when nothing may be sent now. */
function command(world: World, tick: Tick, state: RunState, effects: Effects): void {
  const { slot } = tick;
  const mayAct = world.hasLease() && world.shards.ticks(slot.shard) && !world.isStopping() && !world.isEnded();
  if (!mayAct) {
    slot.needsReconcile ||= tick.commands.length > 0;
    return;
  }
  for (const { kind, path, attempt, ...rest } of tick.commands) {
    if (kind === 'abort' && 'reason' in rest) {
      effects.aborts.push({ tenantId: slot.tenantId, runId: slot.runId, path, attempt, reason: rest.reason });
    } else if (slot.plan !== null) {
      const task = taskOf(slot.plan, state, path);
      if (task !== undefined) effects.tasks.push(task);
    }
  }
}

function countBytes(slot: RunSlot, write: TickWrite): void {
  slot.snapshotBytes = write.snapshot?.byteLength ?? slot.snapshotBytes;
  slot.journalBytes = write.snapshot === null ? slot.journalBytes + write.entries.byteLength : 0;
}

function stateWritten(world: World, tick: Tick, next: RunState, effects: Effects): void {
  const { slot } = tick;
  const before = slot.state;
  slot.state = next;
  countBytes(slot, tick.write);
  const { start } = slot;
  if (start !== null) {
    slot.start = null;
    world.startEnded();
    const outcome = { runId: slot.runId, version: next.version, existing: false };
    effects.answers.push(() => start.resolve(outcome));
  }
  try {
    command(world, tick, next, effects);
    if (before?.status !== next.status || slot.isUntold) effects.changes.push(changeOf(next));
  } catch (error) {
    // Only a journal that contradicts itself comes here; the run itself is as it was committed.
    world.hooks.log('error', 'cannot carry out the commands of a tick', { run: slot.key, error });
  }
  slot.isUntold = false;
}

/** The tick is committed. */
export function written(world: World, tick: Tick, effects: Effects): void {
  const { slot } = tick;
  slot.phase = 'ready';
  slot.conflicts = 0;
  answer(world, tick, effects);
  if (tick.next !== null) stateWritten(world, tick, tick.next, effects);
  if (tick.parks !== null) {
    world.hooks.parked(tick.parks.code);
    world.hooks.log('error', 'run parked', { run: slot.key, code: tick.parks.code, message: tick.parks.message });
    putBack(slot, tick.parks.others);
  }
  slot.isOneByOne &&= slot.inputs.length > 0;
  goOn(world, slot, effects);
}

/** After a tick or a load: the next tick when inputs wait, otherwise rest. */
export function goOn(world: World, slot: RunSlot, effects: Effects): void {
  if (world.isEnded()) return;
  if (slot.needsReconcile) reconcile(world, slot, effects);
  world.cache.used(slot);
  if (slot.inputs.length > 0) world.enqueue(slot);
  else if (slot.state !== null) settleDown(world, slot, slot.state);
  else world.cache.drop(slot);
}

/** Forgets the state and keeps the inputs; the caller enqueues the slot when it may be loaded. */
export function undo(tick: Tick): void {
  const { slot } = tick;
  putBack(slot, inputsOf(tick));
  forget(slot);
  slot.needsReconcile = true;
  slot.isUntold = true;
}

/** Another writer appended this row: our own lost commit, or a node that owns the shard by mistake. */
export function conflicted(world: World, tick: Tick): void {
  const { slot } = tick;
  undo(tick);
  slot.conflicts += 1;
  if (slot.conflicts <= FREE_CONFLICTS) world.enqueue(slot);
  else setAside(world, slot, CONFLICT_WAIT_MS);
}

/** Tries a slot again later. */
export function setAside(world: World, slot: RunSlot, waitMs: number): void {
  world.clock.setTimer(waitMs, () => {
    if (!world.isEnded() && world.cache.holds(slot)) world.enqueue(slot);
  });
}
