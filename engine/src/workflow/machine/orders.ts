/** What is to stand in the header and to be out with workers, by the state of a run. */
import { shardOf } from '../../kernel/index.js';
import type { AbortOrder, AttemptRef, RunHeader, Task } from '../coordinator/ports.js';
import { stepAt, type Plan } from './plan.js';
import { isHeld } from './draft.js';
import { isActive, isClosed, resolveSource, wakeAtUs } from './queries.js';
import type { RunState } from './state.js';

/** The row of `runs` that belongs to a state. */
export function headerOf(state: RunState): RunHeader {
  return {
    tenantId: state.tenantId,
    runId: state.runId,
    shard: shardOf(state.runId),
    familySlug: state.familySlug,
    version: state.version,
    status: state.status,
    active: isActive(state),
    wakeAtUs: wakeAtUs(state),
    startedAtUs: state.startedAtUs,
    closedAtUs: state.closedAtUs,
    attributes: state.attributes,
    rootId: state.family?.rootId ?? null,
    parentId: state.family?.parentId ?? null,
    chain: state.chain === null ? null : { chainId: state.chain.chainId, no: state.chain.no },
  };
}

/**
 * Whether the header row has to be written with this tick: at start, on active <-> idle, on public state change, at
 * close, and when an idle run goes on at another time. An active run is loaded by every takeover, so its wake time
 * need not stand in the row.
 */
export function headerChanged(before: RunState, after: RunState): boolean {
  if (before === after) return false;
  if (before.seq === 0 || before.status !== after.status || isActive(before) !== isActive(after)) return true;
  return !isActive(after) && wakeAtUs(before) !== wakeAtUs(after);
}

/** The same for all attempts of a step that does not say its own. */
export function idempotencyKeyOf(runId: string, path: string): string {
  return `${runId}/${path}`;
}

/**
 * The task of a step whose attempt is scheduled or running; undefined when there is no such attempt. The worker gets
 * the input by value.
 */
export function taskOf(plan: Plan, state: RunState, path: string): Task | undefined {
  const step = state.steps.get(path);
  const planned = stepAt(plan, path);
  if (step === undefined || planned?.type !== 'CALLBACK' || step.input === null) return undefined;
  if (isClosed(state) || isHeld(state) || (step.status !== 'SCHEDULED' && step.status !== 'RUNNING')) return undefined;
  return {
    tenantId: state.tenantId,
    runId: state.runId,
    path,
    attempt: step.attempt,
    familySlug: state.familySlug,
    version: state.version,
    handler: planned.handler,
    queue: planned.queue,
    input: resolveSource(state, step.input, path),
    idempotencyKey: step.keys?.idempotency || idempotencyKeyOf(state.runId, path),
    priority: planned.priority ?? plan.priority,
    fairnessKey: step.keys?.fairness ?? '',
    slots: planned.cost,
    timeoutMs: planned.timeoutMs,
    heartbeatTimeoutMs: planned.heartbeatTimeoutMs,
    lastProgress: step.progress,
    ...(step.subSteps.length === 0 ? {} : { subSteps: step.subSteps }),
    ...(state.traceparent === undefined ? {} : { traceparent: state.traceparent }),
  };
}

/** An attempt that must be with a worker, or on its way to one. */
export interface OpenAttempt extends AttemptRef {
  /** Worker it was noted on; null: not noted, so it may go out again at once. */
  readonly worker: string | null;
}

/** The attempts that must be out with workers now; none while the run is held. For takeovers. */
export function dispatchesOf(state: RunState): readonly OpenAttempt[] {
  if (!isActive(state)) return [];
  const open: OpenAttempt[] = [];
  for (const { path, attempt, status, worker } of state.steps.values()) {
    if (status !== 'SCHEDULED' && status !== 'RUNNING') continue;
    open.push({ tenantId: state.tenantId, runId: state.runId, path, attempt, worker });
  }
  return open;
}

/** The attempts that were told to stop and have not ended. For takeovers. */
export function abortsOf(state: RunState): readonly AbortOrder[] {
  if (!isActive(state)) return [];
  const orders: AbortOrder[] = [];
  for (const { path, attempt, status } of state.steps.values()) {
    if (status !== 'CANCELLING') continue;
    orders.push({ tenantId: state.tenantId, runId: state.runId, path, attempt, reason: 'cancelled' });
  }
  return orders;
}
