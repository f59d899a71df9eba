/**
 * Runs that continue as new, as a shell sees them: their plans, the mail of their chains, their successors.
 *
 * 1. A step that continues with the current version gets that in its tick: each tick of a run with such a step looks it
 *    up first, which mostly costs nothing (registry/current-versions.ts), so that a publish is never missed.
 * 2. Mail that was read for a run that has been continued meanwhile is let go and read again: the store then names the
 *    run that is last.
 */
import type { Plan } from '../machine/plan.js';
import type { RunState } from '../machine/state.js';
import { backoffMs } from './backoff.js';
import { isForRun } from './ports.js';
import { isContinued } from './run-logic.js';
import type { RunCell } from './run-cell.js';
import type { World } from './world.js';

const ASKING = new WeakMap<Plan, boolean>();

function asksForCurrent(plan: Plan): boolean {
  const known = ASKING.get(plan);
  if (known !== undefined) return known;
  const asks = plan.steps.some((step) => step.type === 'CONTINUE_AS_NEW' && step.isCurrent);
  ASKING.set(plan, asks);
  return asks;
}

/** The plan of the current version; null when it is that of the run, or there is none any more. */
async function currentOf({ plans }: World, { tenantId, plan }: RunCell): Promise<Plan | null> {
  if (plan === null) return null;
  const { familySlug } = plan;
  const version = await plans.current(tenantId, familySlug);
  if (version === undefined || version === 0 || version === plan.version) return null;
  const known = plans.peek(tenantId, familySlug, version);
  return known ?? (await plans.load(tenantId, familySlug, version)) ?? null;
}

async function lookUp(world: World, cell: RunCell, tries = 0): Promise<void> {
  try {
    const current = await currentOf(world, cell);
    if (world.isEnded() || !world.cache.holds(cell)) return;
    cell.phase = 'ready';
    cell.current = current ?? cell.plan;
    world.enqueue(cell);
  } catch (error) {
    world.hooks.log('warn', 'the current version of a workflow cannot be had, trying again', { run: cell.key, error });
    world.clock.setTimer(backoffMs(tries + 1), () => {
      if (!world.isEnded() && world.cache.holds(cell)) void lookUp(world, cell, tries + 1);
    });
  }
}

/** Whether the run has to wait for its workflow's current version; it comes back to the lane with it. */
export function isLookedUp(world: World, cell: RunCell): boolean {
  const { plan, state } = cell;
  if (plan === null || state === null || state.closedAtUs !== null) return false;
  if (cell.current !== null || !asksForCurrent(plan)) return false;
  cell.phase = 'loading';
  void lookUp(world, cell);
  return true;
}

/** Lets mail go that is the successor's; true when nothing else waits for the run. */
export function isPassedOn(world: World, cell: RunCell): boolean {
  const { state, inputs } = cell;
  if (state === null || !isContinued(state)) return false;
  const own = inputs.filter(({ inboxId, input }) => inboxId === null || isForRun(input.kind));
  if (own.length === inputs.length) return false;
  for (const { inboxId } of inputs.filter((pending) => !own.includes(pending))) {
    if (inboxId !== null) world.released(inboxId);
  }
  cell.inputs = own;
  world.readMail(cell.shard);
  return own.length === 0;
}

/** Lets the run begin that continues this one; nothing when none does. */
export function wakeSuccessor(world: World, { tenantId, continuedAs }: RunState): void {
  if (continuedAs === null) return;
  world.deliver({ tenantId, runId: continuedAs }, { input: { kind: 'wake' }, inboxId: null, settled: null });
}
