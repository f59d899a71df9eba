/**
 * What follows from the verdict on a tick: the cell's next phase, and the effects.
 *
 *   written            -> state replaced, waiting callers answered, commands carried out
 *   conflict, unknown  -> state forgotten, inputs kept in front, loaded again (applying them twice changes nothing)
 *   unread             -> state and inputs kept; the mailbox is read, and the next tick takes what came
 *   key_taken          -> the start leaves; who holds its key is looked up
 *   fenced             -> inputs kept; the end of the incarnation hands them on
 */
import { askApps } from './asking-apps.js';
import { shardOf } from '../../kernel/index.js';
import { wakeSuccessor } from './continuing.js';
import type { Effects } from './effects.js';
import { changeOf } from './effects.js';
import type { TickWrite } from './ports.js';
import { reconcile } from './reconcile.js';
import { isActive, stepAt, taskOf, wakeAtUs } from './run-logic.js';
import { forget, forgetGate, isIdle, type PendingInput, type RunCell } from './run-cell.js';
import { inputsOf, type Tick } from './tick.js';
import type { RunInput } from '../machine/inputs.js';
import type { Plan } from '../machine/plan.js';
import type { RunState } from '../machine/state.js';
import type { World } from './world.js';

/** A tick that did not get its locks, or was undone with its batch, is tried again after this. */
const AGAIN_MS = 2;

/** Conflicts of one run in a row after which each further one waits a while. */
const FREE_CONFLICTS = 3;
const CONFLICT_WAIT_MS = 1_000;
/** A run that its mail kept from ending is tried again after this at the latest; its box is sealed for longer. */
const UNREAD_WAIT_MS = 100;

/** Puts inputs back in front of those that came meanwhile. */
export function putBack(cell: RunCell, inputs: readonly PendingInput[]): void {
  cell.inputs = cell.inputs.length === 0 ? [...inputs] : [...inputs, ...cell.inputs];
}

/** Arms the next wake, or lets the run go from memory: closed, or waiting for longer than the horizon. */
export function settleDown(world: World, cell: RunCell, state: RunState): void {
  const dueUs = wakeAtUs(state);
  const horizonUs = world.clock.nowUs() + world.options.wakeHorizonMs * 1000;
  const isNear = dueUs !== null && dueUs <= horizonUs;
  if (dueUs !== null && (isNear || isActive(state))) world.timers.arm(cell.key, dueUs);
  else world.timers.disarm(cell.key);
  watchHeartbeats(world, cell, state);
  if (!isNear && !isActive(state) && isIdle(cell)) world.cache.drop(cell);
}

/** Watches the attempts that run on workers and whose steps ask for heartbeats. */
function watchHeartbeats(world: World, { plan, tenantId, runId }: RunCell, state: RunState): void {
  if (plan === null || !asksForHeartbeats(plan) || !isActive(state)) return;
  for (const { path, attempt, status } of state.steps.values()) {
    const step = status === 'RUNNING' ? stepAt(plan, path) : undefined;
    if (step?.type !== 'CALLBACK' || step.heartbeatTimeoutMs === null) continue;
    world.heartbeats.watch({ tenantId, runId, path, attempt }, step.heartbeatTimeoutMs);
  }
}

const ASKING = new WeakMap<Plan, boolean>();

function asksForHeartbeats(plan: Plan): boolean {
  const known = ASKING.get(plan);
  if (known !== undefined) return known;
  const steps = [...plan.stepByRef.values()];
  const asks = steps.some((step) => step.type === 'CALLBACK' && step.heartbeatTimeoutMs !== null);
  ASKING.set(plan, asks);
  return asks;
}

/** Whether the step has an output of this sub-step, whichever attempt it came from. */
function isKept({ next, cell }: Tick, { path, name }: RunInput & { readonly kind: 'sub_step' }): boolean {
  return (next ?? cell.state)?.steps.get(path)?.subSteps.some((known) => known.name === name) === true;
}

/** Answers whoever waits for these inputs. */
function answer(world: World, tick: Tick, effects: Effects): void {
  for (let index = 0; index < tick.inputs.length; index += 1) {
    const pending = tick.inputs[index];
    if (pending === undefined) break;
    const { input, settled } = pending;
    if (pending.inboxId !== null) world.released(pending.inboxId);
    if (input.kind === 'result' || input.kind === 'lost' || input.kind === 'silent') {
      const { tenantId, runId } = tick.cell;
      const ref = { tenantId, runId, path: input.path, attempt: input.attempt };
      if (input.kind === 'result') world.ledger.clear(ref);
      // A run that is parked for this result, and retried, sends the same attempt again.
      if (input.kind === 'result' && pending.inboxId !== null) effects.answers.push(() => world.invoker.settled?.(ref));
      world.heartbeats.forget(ref);
    }
    const isIn = input.kind === 'sub_step' ? isKept(tick, input) : tick.dispositions[index] === 'applied';
    const ack = isIn ? 'recorded' : 'already_settled';
    if (settled !== null) effects.answers.push(() => settled(ack));
  }
}

/** Adds the commands of a tick, or leaves them to a later reconcile when nothing may be sent now. */
function command(world: World, tick: Tick, state: RunState, effects: Effects): void {
  const { cell } = tick;
  const mayAct = world.hasLease() && world.shards.ticks(cell.shard) && !world.isStopping() && !world.isEnded();
  if (!mayAct) {
    cell.needsReconcile ||= tick.commands.length > 0;
    return;
  }
  const { tenantId, runId } = cell;
  for (const order of tick.commands) {
    const { path, attempt } = order;
    if (order.kind === 'abort') {
      effects.aborts.push({ tenantId, runId, path, attempt, reason: order.reason });
    } else if (order.kind === 'withdraw') {
      effects.withdrawals.push({ tenantId, runId, path, attempt });
    } else if (cell.plan !== null) {
      const task = taskOf(cell.plan, state, order.path);
      if (task !== undefined) effects.tasks.push(task);
    }
  }
}

function countBytes(cell: RunCell, write: TickWrite): void {
  cell.snapshotBytes = write.snapshot?.byteLength ?? cell.snapshotBytes;
  cell.journalBytes = write.snapshot === null ? cell.journalBytes + write.entries.byteLength : 0;
}

function stateWritten(world: World, tick: Tick, next: RunState, effects: Effects): void {
  const { cell } = tick;
  const before = cell.state;
  cell.state = next;
  countBytes(cell, tick.write);
  const { start } = cell;
  if (start !== null) {
    cell.start = null;
    world.startEnded(start);
    const outcome = { runId: cell.runId, version: next.version, existing: false };
    effects.answers.push(() => start.resolve(outcome));
  }
  try {
    command(world, tick, next, effects);
    const isAnswered = next.signals !== undefined && before?.signals?.answers !== next.signals.answers;
    if (before?.status !== next.status || isAnswered || cell.isUntold) effects.changes.push(changeOf(next));
    // What its attempts have come to while it was held is known to nobody yet.
    if (before?.heldSinceUs && next.heldSinceUs === null) cell.needsReconcile = true;
  } catch (error) {
    // Only a journal that contradicts itself comes here; the run itself is as it was committed.
    world.hooks.log('error', 'cannot carry out the commands of a tick', { run: cell.key, error });
  }
  cell.isUntold = false;
}

/** The tick is committed. */
export function written(world: World, tick: Tick, effects: Effects): void {
  const { cell } = tick;
  cell.phase = 'ready';
  cell.conflicts = 0;
  cell.isLockedOut = false;
  cell.said = null;
  forgetGate(cell);
  answer(world, tick, effects);
  const { messages } = tick.write;
  if (messages !== undefined) {
    const shards = new Set(messages.map(({ runId }) => shardOf(runId)));
    effects.answers.push(() => world.mailed([...shards]));
  }
  if (tick.next !== null) stateWritten(world, tick, tick.next, effects);
  if (tick.next !== null) wakeSuccessor(world, tick.next);
  if (tick.parks !== null) {
    world.hooks.parked(tick.parks.code);
    world.hooks.log('error', 'run parked', { run: cell.key, code: tick.parks.code, message: tick.parks.message });
    putBack(cell, tick.parks.others);
  }
  cell.isOneByOne &&= cell.inputs.length > 0;
  cell.takesAll = false;
  goOn(world, cell, effects);
}

/** After a tick or a load: the next tick when inputs wait, otherwise rest. */
export function goOn(world: World, cell: RunCell, effects: Effects): void {
  if (world.isEnded()) return;
  if (cell.needsReconcile) reconcile(world, cell, effects);
  world.cache.used(cell);
  if (cell.inputs.length > 0) world.enqueue(cell);
  else if (cell.state !== null) settleDown(world, cell, cell.state);
  else world.cache.drop(cell);
}

/** Forgets the state and keeps the inputs; the caller enqueues the cell when it may be loaded. */
export function undo(tick: Tick): void {
  const { cell } = tick;
  putBack(cell, inputsOf(tick));
  forget(cell);
  cell.needsReconcile = true;
  cell.isUntold = true;
}

/** Another writer appended this row: our own lost commit, or a node that owns the shard by mistake. */
export function conflicted(world: World, tick: Tick): void {
  const { cell } = tick;
  undo(tick);
  cell.conflicts += 1;
  if (cell.conflicts <= FREE_CONFLICTS) world.enqueue(cell);
  else setAside(world, cell, CONFLICT_WAIT_MS);
}

/** The run could not end: its mailbox holds messages. They are read now, and the tick is computed again with them. */
export function unread(world: World, tick: Tick): void {
  const { cell } = tick;
  cell.phase = 'ready';
  const hasNew = cell.inputs.length > 0;
  // One by one, what ends the run comes last; else the next tick takes all there is, in order.
  if (cell.isOneByOne) cell.inputs.push(...inputsOf(tick));
  else putBack(cell, inputsOf(tick));
  cell.takesAll = true;
  world.readMail(cell.shard);
  // What was handed in while the batch was in flight may be all there is.
  if (hasNew) world.enqueue(cell);
  else setAside(world, cell, UNREAD_WAIT_MS);
}

/** Tries a cell again later. */
export function setAside(world: World, cell: RunCell, waitMs: number): void {
  world.clock.setTimer(waitMs, () => {
    if (!world.isEnded() && world.cache.holds(cell)) world.enqueue(cell);
  });
}

/** Nothing was written, and the state still holds: computed again, in the next batch or a little later. */
export function oncemore(world: World, tick: Tick): void {
  const { cell } = tick;
  cell.phase = 'ready';
  putBack(cell, inputsOf(tick));
  if (cell.unasked.length > 0) return askApps(world, cell);
  if (cell.isGateShort || cell.isLockedOut) world.toGate(cell);
  else setAside(world, cell, AGAIN_MS);
}
