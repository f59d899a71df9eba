/**
 * What holds of work that waits in the queue of a pool for a ROUTE step.
 *
 * - work is in its queue with the row that says so, and out of it with the row by which its step ends without it
 * - a step is done with what its work came to, or fails by it, once it waits nowhere any more
 * - of a run that has ended nothing waits, and nothing is decided: what comes out of a queue finds its family open, and
 *   so leaves no seat that only the look of each minute would end
 */
import type { MadeDecision } from '../../../engine/src/workflow/coordinator/gate-ports.js';
import type { GateDecision } from '../../../engine/src/workflow/coordinator/ports.js';
import { queuedStep } from '../../../engine/src/workflow/coordinator/queue-waiter.js';
import { decodeEntries } from '../../../engine/src/workflow/journal/index.js';
import { jsonOfValue, type Entry, type RunState } from '../../../engine/src/workflow/machine/index.js';
import type { MemoryDatabase } from '../../../engine/src/workflow/testing/memory-database.js';
import type { MemoryQueues } from '../../../engine/src/workflow/testing/memory-queues.js';
import type { Sim } from '../core/sim.js';
import { runName } from './names.js';

function idIn(output: unknown): string {
  return typeof output === 'object' && output !== null && 'id' in output ? String(output.id) : '';
}

/** The decision that work came to; undefined: none. */
function endOf({ works }: MemoryQueues, workId: string): string | undefined {
  const states = [...works.values()].filter(({ firstId }) => firstId === workId);
  if (states.some(({ state }) => state === 'waiting')) return undefined;
  return states.at(-1)?.decidedAs ?? undefined;
}

/** Looks at an entry before it is folded. */
export function checkQueueEntry(sim: Sim, queues: MemoryQueues, { steps, runId }: RunState, entry: Entry): void {
  if (entry.kind === 'route_settling') sim.marks.reach('route_settling');
  if (entry.kind !== 'step_completed' && entry.kind !== 'step_failed') return;
  const queued = steps.get(entry.path)?.queued;
  if (queued === undefined) return;
  const where = `step ${entry.path} of run ${runId}`;
  const decidedAs = endOf(queues, queued.workId);
  if (entry.kind === 'step_completed') {
    sim.marks.reach('route_told');
    if (idIn(jsonOfValue(entry.output)?.json) !== decidedAs) sim.violate(`${where} is done by what there was not`);
  } else if (entry.error.code !== 'timeout') {
    sim.marks.reach('route_expired');
    if (decidedAs === undefined) sim.violate(`${where} fails by ${entry.error.code}, and its work came to nothing`);
  }
}

/** Looks at what a batch of the gate lane did to work. */
export function checkUnqueued(sim: Sim, { reservations: { queues } }: MemoryDatabase, { ticks }: GateDecision): void {
  for (const { entries } of ticks) {
    for (const entry of entries.byteLength === 0 ? [] : decodeEntries(entries)) {
      if (entry.kind === 'route_queued') {
        sim.marks.reach('route_queued');
        if (!queues.works.has(entry.workId)) sim.violate(`work ${entry.workId} is waited for and is in no queue`);
      }
      const message = entry.kind === 'step_failed' && entry.error.code === 'timeout' ? entry.error.message : '';
      const [, workId] = /^the work of decision (\S+) was given to nobody/.exec(message) ?? [];
      if (workId === undefined) continue;
      sim.marks.reach('route_taken_out');
      const state = [...queues.works.values()].findLast(({ firstId }) => firstId === workId)?.state;
      if (state !== 'removed') sim.violate(`work ${workId} was given up by its step and is ${state ?? 'nowhere'}`);
    }
  }
}

/** Looks at what was decided of waiting work of a tenant. */
export function checkLooked(sim: Sim, { runs }: MemoryDatabase, tenantId: string, made: readonly MadeDecision[]): void {
  for (const { runId, decision } of made) {
    const { decisionId } = decision.input;
    if (runs.get(runName({ tenantId, runId }))?.header.closedAtUs === null) continue;
    sim.violate(`decision ${decisionId} of waiting work is for run ${runId}, which has ended`);
  }
}

/** Work that waits although the run that waits for it has ended. */
export function* leftWaiting({ reservations: { queues }, runs }: MemoryDatabase): Generator<string> {
  for (const { decisionId, tenantId, waiter } of queues.waiting()) {
    const run = waiter === null ? undefined : runs.get(`${tenantId}/${queuedStep(waiter).runId}`);
    if (run !== undefined && run.header.closedAtUs !== null)
      yield `the work of decision ${decisionId} is in a queue, and nobody waits for it any more`;
  }
}
