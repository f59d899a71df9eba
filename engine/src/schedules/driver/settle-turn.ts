/** Decides slots that are due and starts those that may. */
import { DuctorError } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import { decideSlots, type SlotDecision } from '../planning/decide-slots.js';
import {
  openSlots,
  runningSlots,
  type Holder,
  type OpenSlotRow,
  type RunningSlotRow,
  type SlotRef,
} from '../sql/driving.js';
import { schedulesOf, writeDecisions, writeStarts } from '../sql/settling.js';
import { shardsOf } from './plan-turn.js';
import type { ScheduleRuns } from './ports.js';
import { scheduleName, startSlots } from './start-slots.js';

/** Slots that are decided in one turn. */
const PAGE_SLOTS = 500;

/** What is left after a turn. */
export interface Settled {
  /** There may be more to decide at once. */
  readonly isMore: boolean;
  /** Starts were refused for now. */
  readonly hasRetries: boolean;
  /** Runs whose end lets a buffered slot start. */
  readonly awaited: readonly string[];
  /** Slots wait for such an end. */
  readonly hasBuffered: boolean;
}

const NOTHING_LEFT: Settled = { isMore: false, hasRetries: false, awaited: [], hasBuffered: false };

/** What a turn needs. */
export interface SettleParts {
  readonly db: Queryable;
  readonly runs: ScheduleRuns;
}

function grouped<T extends SlotRef>(slots: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const slot of [...slots].sort((a, b) => a.slotUs - b.slotUs)) {
    const group = groups.get(scheduleName(slot));
    if (group === undefined) groups.set(scheduleName(slot), [slot]);
    else group.push(slot);
  }
  return groups;
}

interface Decided {
  readonly decisions: readonly (SlotDecision & SlotRef)[];
  readonly cancel: readonly { readonly tenantId: string; readonly runId: string }[];
  readonly awaited: readonly string[];
  readonly hasBuffered: boolean;
}

/** Decides each schedule by what runs of it. */
function decideAll(open: readonly OpenSlotRow[], running: readonly RunningSlotRow[]): Decided {
  const runningOf = grouped(running);
  const all = [...grouped(open).entries()].map(([name, slots]) => {
    const [{ tenantId, scheduleId } = { tenantId: '', scheduleId: '' }] = slots;
    const itsRunning = runningOf.get(name) ?? [];
    const { decisions, cancel } = decideSlots(slots, itsRunning);
    const outcomeOf = new Map(decisions.map(({ slotUs, outcome }) => [slotUs, outcome]));
    const hasBuffered = slots.some(({ slotUs, outcome }) => (outcomeOf.get(slotUs) ?? outcome) === 'buffered');
    return {
      decisions: decisions.map((decision) => ({ tenantId, scheduleId, ...decision })),
      cancel: cancel.map((runId) => ({ tenantId, runId })),
      awaited: hasBuffered ? itsRunning.map(({ runId }) => runId) : [],
      hasBuffered,
    };
  });
  return {
    decisions: all.flatMap(({ decisions }) => decisions),
    cancel: all.flatMap(({ cancel }) => cancel),
    awaited: all.flatMap(({ awaited }) => awaited),
    hasBuffered: all.some(({ hasBuffered }) => hasBuffered),
  };
}

/** Cancels runs; one that has ended meanwhile is what was wanted. */
async function cancelAll(runs: ScheduleRuns, cancel: Decided['cancel']): Promise<void> {
  await Promise.all(
    cancel.map(async (run) => {
      try {
        await runs.cancel(run, 'the next slot of its schedule came: overlap policy cancel_previous');
      } catch (error) {
        const { code } = DuctorError.from(error);
        if (code !== 'run_closed' && code !== 'not_found') throw error;
      }
    }),
  );
}

/**
 * One turn over the slots that are due. The order is what makes a crash harmless: runs are cancelled before the slot
 * that cancels them is written down, a slot is written down as `starting` before it starts, and a start that is
 * repeated answers the first run.
 */
export async function settleOpen({ db, runs }: SettleParts, holder: Holder, nowUs: number): Promise<Settled> {
  const open = await openSlots(db, holder.shards, PAGE_SLOTS);
  if (open.length === 0) return NOTHING_LEFT;
  const held = { nodeId: holder.nodeId, shards: shardsOf(open) };
  const waiting = open.filter(({ outcome }) => outcome !== 'starting');
  const known = waiting.length === 0 ? [] : await runningSlots(db, waiting);
  const stillOpen = new Set(known.length === 0 ? [] : (await runs.openAmong(known)).map(({ runId }) => runId));
  const running = known.filter(({ runId }) => stillOpen.has(runId));
  const { decisions, cancel, awaited, hasBuffered } = decideAll(open, running);
  await cancelAll(runs, cancel);
  const ended = known.filter(({ runId }) => !stillOpen.has(runId));
  const decided = decisions.length + ended.length === 0 ? [] : await writeDecisions(db, held, nowUs, decisions, ended);
  const starting = [...open.filter(({ outcome }) => outcome === 'starting'), ...decided];
  if (starting.length === 0) return { isMore: open.length >= PAGE_SLOTS, hasRetries: false, awaited, hasBuffered };
  const started = await startSlots(runs, await schedulesOf(db, distinct(starting)), starting);
  if (started.length > 0) await writeStarts(db, held, nowUs, started);
  const hasRetries = started.length < starting.length;
  // What was started just now is what buffered slots wait for from here on.
  const fresh = started.flatMap(({ runId }) => runId ?? []);
  return {
    ...{ isMore: open.length >= PAGE_SLOTS && !hasRetries, hasRetries, hasBuffered },
    awaited: hasBuffered ? [...awaited, ...fresh] : [],
  };
}

function distinct(slots: readonly SlotRef[]): readonly SlotRef[] {
  return [...new Map(slots.map((slot) => [scheduleName(slot), slot])).values()];
}
