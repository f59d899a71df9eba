/**
 * Replays the journal of a run without a database: for each row, what the machine makes of the facts that the row
 * holds, with the definition the run executed, compared with what the row says. No worker is asked and nothing happens.
 *
 * Each row is looked at on the state that the rows before it say, so that one that differs does not make others differ.
 * What was drawn at random, and what was granted or numbered by somebody else, is taken from the row.
 */
import { ERROR_CATALOGUE, impossible, type ErrorCode } from '../../kernel/index.js';
import { encodeEntries } from '../journal/index.js';
import {
  advance,
  emptyRun,
  fold,
  stepAt,
  type Entry,
  type Plan,
  type RunInput,
  type RunState,
} from '../machine/index.js';
import type { Gate, MachineContext } from '../machine/inputs.js';
import { tooLateText } from '../machine/queued-step.js';
import type { Unqueued, Withdrawal } from '../machine/routing-work.js';
import type { Chosen } from '../machine/selecting.js';
import { readingsOf } from './inputs-of-row.js';

/** A row with its entries and their values. */
export interface ReplayRow {
  readonly seq: number;
  /** Microseconds since 1970. */
  readonly atUs: number;
  readonly entries: readonly Entry[];
}

/** The first row that differs. */
export interface Difference {
  readonly seq: number;
  readonly recorded: readonly Entry[];
  /** What the machine makes of its facts; empty when it cannot. */
  readonly replayed: readonly Entry[];
  /** Why the row cannot be replayed; empty when it can, with another outcome. */
  readonly problem: string;
}

/** What a replay came to. */
export interface JournalReplay {
  readonly rows: number;
  /** Null: all rows are the same. */
  readonly difference: Difference | null;
  /** As the last row leaves the run that could be read. */
  readonly state: RunState;
}

/** Seeds that are tried where the outcome hangs on what was drawn: whether a retry comes before a total timeout. */
const SEEDS = [1, 2, 3, 5, 8, 13];

/** Entries without what was drawn: waits of retries are taken from the row. */
function withoutDraws(entries: readonly Entry[], recorded: readonly Entry[]): readonly Entry[] {
  return entries.map((entry, index) => {
    const other = recorded[index];
    if (entry.kind !== 'attempt_failed' || other?.kind !== 'attempt_failed') return entry;
    return { ...entry, retryAtUs: other.retryAtUs };
  });
}

function isSame(replayed: readonly Entry[], recorded: readonly Entry[]): boolean {
  return Buffer.compare(encodeEntries(withoutDraws(replayed, recorded)), encodeEntries(recorded)) === 0;
}

/** Takes the first of a list of values, for each name one list. */
class Queues<T> {
  readonly #lists = new Map<string, T[]>();

  put(name: string, value: T): void {
    this.#lists.set(name, [...(this.#lists.get(name) ?? []), value]);
  }

  take(name: string): T | undefined {
    return this.#lists.get(name)?.shift();
  }
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CATALOGUE, code);

/** What a step that asked for recipients was answered; null: no answer. */
function selectedOf(entries: readonly Entry[], path: string): ReturnType<Gate['select']> {
  for (const entry of entries) {
    if (!('path' in entry) || entry.path !== path) continue;
    if (entry.kind === 'slate_reserved') {
      const { poolId, digest, isReused, recipients, decisionId } = entry;
      const chosen: Chosen[] = JSON.parse(Buffer.from(recipients.data).toString('utf8'));
      const by = decisionId === undefined ? {} : { decisionId };
      return { kind: 'granted', poolId, digest, isReused, recipients: chosen, ...by };
    }
    if (entry.kind !== 'step_failed') continue;
    const { code, message } = entry.error;
    return { kind: 'refused', code: isErrorCode(code) ? code : 'internal', message };
  }
  return null;
}

/** What a step that asked for a decision was answered; null: no answer. */
function routedOf(entries: readonly Entry[], path: string): ReturnType<Gate['route']> {
  for (const entry of entries) {
    if (!('path' in entry) || entry.path !== path) continue;
    if (entry.kind === 'claim_queued') {
      const { itemId, decisionId, queueId, poolId } = entry;
      return { kind: 'queued', itemId, decisionId, queueId, poolId };
    }
    if (entry.kind === 'route_queued') {
      const { workId, poolId } = entry;
      return { kind: 'waiting', workId, poolId };
    }
    if (entry.kind === 'step_completed') {
      return { kind: 'routed', output: JSON.parse(Buffer.from(entry.output.data).toString('utf8')) };
    }
    if (entry.kind !== 'step_failed') continue;
    const { code, message, retryable } = entry.error;
    return { kind: 'failed', code, message, isRetryable: retryable };
  }
  return null;
}

/** What became of an item that was to be taken out, as the end of its step says: of others it does not matter. */
function withdrawnOf(entries: readonly Entry[], itemId: string): Withdrawal {
  if (entries.some(({ kind }) => kind === 'claim_settling')) return 'ended';
  const late = `item ${itemId} was not completed`;
  return entries.some((entry) => entry.kind === 'step_failed' && entry.error.message.startsWith(late))
    ? 'claimed'
    : 'withdrawn';
}

/** The same of work that was to leave the queue of a pool. */
function unqueuedOf(entries: readonly Entry[], workId: string): Unqueued {
  const late = tooLateText(workId);
  const isLate = (entry: Entry): boolean => entry.kind === 'step_failed' && entry.error.message.startsWith(late);
  return entries.some(isLate) ? 'withdrawn' : 'ended';
}

/** What varies, as the row says it was. */
function contextOf(plan: Plan, { atUs, entries }: ReplayRow, seed: number): MachineContext {
  const ids: string[] = [];
  const grants = new Queues<number>();
  let current: Plan | undefined;
  for (const entry of entries) {
    if (entry.kind === 'child_started') ids.push(entry.runId);
    else if (entry.kind === 'run_closed' && entry.successorId !== undefined) ids.push(entry.successorId);
    else if (entry.kind === 'step_granted') grants.put(entry.path, entry.startAtUs);
    else if (entry.kind === 'run_granted') grants.put('', entry.startAtUs);
    else if (entry.kind === 'run_continuing' && entry.version !== plan.version) {
      const timeoutMs = entry.timeoutUs === null ? null : entry.timeoutUs / 1_000;
      current = { ...plan, version: entry.version, timeoutMs, checkInput: () => [] };
    }
  }
  const progressOf: MachineContext['progressOf'] = (path, attempt) => {
    const failed = entries.find(
      (entry) => entry.kind === 'attempt_failed' && entry.path === path && entry.attempt === attempt,
    );
    return failed?.kind === 'attempt_failed' ? failed.progress : null;
  };
  const gate = {
    ask: (path: string) => grants.take(path) ?? null,
    select: ({ path }: { readonly path: string }) => selectedOf(entries, path),
    route: ({ path }: { readonly path: string }) => routedOf(entries, path),
    withdraw: (itemId: string) => withdrawnOf(entries, itemId),
    unqueue: (workId: string) => unqueuedOf(entries, workId),
    ...{ release: () => undefined, bear: () => undefined, close: () => undefined },
  };
  return { nowUs: atUs, seed, newId: () => ids.shift() ?? '', current, progressOf, gate };
}

/** An attempt began when its deadline says, as far as that is its own timeout. */
function begun(input: RunInput, plan: Plan, { entries }: ReplayRow): RunInput {
  if (input.kind !== 'running') return input;
  const noted = entries.find((entry) => entry.kind === 'step_running' && entry.path === input.path);
  const step = stepAt(plan, input.path);
  if (noted?.kind !== 'step_running' || step?.type !== 'CALLBACK') return input;
  return { ...input, startedAtUs: noted.deadlineUs - step.timeoutMs * 1_000 };
}

/** Updates that were refused after they had been read left their answer only, not what they asked. */
function withoutRefusals(entries: readonly Entry[], state: RunState): readonly Entry[] {
  const isHeld = (name: string, id: string): boolean =>
    state.signals?.waiting.some((signal) => signal.name === name && signal.id === id) === true ||
    entries.some((entry) => entry.kind === 'signal_received' && entry.name === name && entry.id === id) ||
    [...state.steps.values()].some((step) => step.taken?.name === name && step.taken.id === id);
  return entries.filter(
    (entry) => entry.kind !== 'update_answered' || entry.error === null || isHeld(entry.name, entry.id),
  );
}

/** What the machine makes of a row that is like what it says; the likeliest reading where none is. */
function replayRow(plan: Plan, state: RunState, row: ReplayRow): readonly Entry[] | null {
  let first: readonly Entry[] | undefined;
  for (const seed of SEEDS) {
    for (const reading of readingsOf(row.entries, state)) {
      const inputs = reading.map((input) => begun(input, plan, row));
      const { entries } = advance(plan, state, inputs, contextOf(plan, row, seed));
      if (isSame(entries, row.entries)) return null;
      first ??= entries;
    }
  }
  return first ?? impossible('no-reading', `row ${row.seq} of run ${state.runId} has no reading`);
}

/** The first row of a run that continues another one stands in the commit of that one: it says only that it began. */
function isSuccessorStart({ seq, entries }: ReplayRow): boolean {
  const [first] = entries;
  return seq === 1 && entries.length === 1 && first?.kind === 'run_started' && first.chain !== undefined;
}

/** Looks at one row. Throws what the machine throws. */
function differenceOf(plan: Plan, state: RunState, row: ReplayRow): Difference | null {
  if (isSuccessorStart(row)) return null;
  const entries = withoutRefusals(row.entries, state);
  if (entries.length === 0) return null;
  const replayed = replayRow(plan, state, { ...row, entries });
  return replayed === null ? null : { seq: row.seq, recorded: row.entries, replayed, problem: '' };
}

/**
 * Replays a journal from its first row.
 *
 * @param plan the version that the run executed, or another one of the same workflow, as if it had executed that
 * @param rows without a gap, their values whole
 */
export function replayJournal(
  plan: Plan,
  key: { readonly tenantId: string; readonly runId: string },
  rows: readonly ReplayRow[],
): JournalReplay {
  let state = emptyRun(key);
  for (const row of rows) {
    try {
      const difference = differenceOf(plan, state, row);
      if (difference !== null) return { rows: rows.length, difference, state };
      state = fold(state, row.entries, row);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { rows: rows.length, difference: { seq: row.seq, recorded: row.entries, replayed: [], problem }, state };
    }
  }
  return { rows: rows.length, difference: null, state };
}
