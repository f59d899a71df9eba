/**
 * Looks at every row at the moment it is committed, by a fold of its own that no engine touches.
 *
 * - a run's rows are gapless, and a closed run gets none (M4)
 * - each row folds onto what is there by the table of transitions (M3)
 * - each attempt has at most one outcome (M5), and it is one that its worker produced
 * - nothing that waits for time happens before database time has come (M6)
 * - the header and the snapshot say what the fold says, so what the engine kept in memory was the fold
 */
import { isDeepStrictEqual } from 'node:util';
import { shardOf } from '../../../engine/src/kernel/index.js';
import type { RunHeader, TickWrite } from '../../../engine/src/workflow/coordinator/ports.js';
import {
  decodeEntries,
  decodeSnapshot,
  payloadShelf,
  type PayloadShelf,
} from '../../../engine/src/workflow/journal/index.js';
import {
  emptyRun,
  fold,
  headerChanged,
  headerOf,
  type AttemptOutcome,
  type Entry,
  type RunState,
  type Signal,
} from '../../../engine/src/workflow/machine/index.js';
import { plainState } from '../../../engine/src/workflow/testing/plain-state.js';
import type { Sim } from '../core/sim.js';
import type { MemoryClaims } from '../../../engine/src/workflow/testing/memory-claims.js';
import { checkWhy, type AdmissionSight } from './admission-check.js';
import type { MemoryQueues } from '../../../engine/src/workflow/testing/memory-queues.js';
import { checkClaimEntry } from './claim-check.js';
import { checkQueueEntry } from './queue-check.js';
import { checkFamily } from './family-check.js';
import { checkHeld } from './held-check.js';
import { BODY_CODES } from './payloads.js';
import { attemptName, runName, signalName } from './names.js';
import { isEarly, noteDue } from './time-check.js';
import type { TrueRun, Truth } from './truth.js';

/** Entries that record the outcome of an attempt. */
const OUTCOMES: ReadonlySet<string> = new Set(['step_completed', 'attempt_failed', 'step_failed', 'step_cancelled']);

/**
 * Ids of signals are known for a day: who sends one again after a night of days is heard anew. A minute less, us, since
 * a row takes a while from its time until it is written.
 */
const KNOWN_US = (24 * 3600 - 60) * 1_000_000;

function isSameHeader(a: RunHeader, b: RunHeader): boolean {
  return (
    a.shard === b.shard &&
    a.status === b.status &&
    a.active === b.active &&
    a.wakeAtUs === b.wakeAtUs &&
    a.startedAtUs === b.startedAtUs &&
    a.closedAtUs === b.closedAtUs &&
    a.version === b.version &&
    a.familySlug === b.familySlug &&
    a.rootId === b.rootId &&
    a.parentId === b.parentId &&
    a.chain?.chainId === b.chain?.chainId &&
    a.chain?.no === b.chain?.no
  );
}

function wasProduced(entry: Entry, produced: readonly AttemptOutcome[]): boolean {
  switch (entry.kind) {
    case 'step_completed':
      return produced.some(
        (outcome) => outcome.kind === 'completed' && Buffer.compare(outcome.output.data, entry.output.data) === 0,
      );
    case 'attempt_failed':
    case 'step_failed': {
      const { code } = entry.error;
      if (code === 'cancelled_by_worker') return produced.some((outcome) => outcome.kind === 'cancelled');
      if (!BODY_CODES.has(code)) return true;
      return produced.some((outcome) => outcome.kind === 'failed' && outcome.code === code);
    }
    default:
      return true;
  }
}

/** The checks of rows. */
export class JournalCheck {
  /** Where work waits to be claimed; null: there is no database yet. */
  claims: MemoryClaims | null = null;
  sight: AdmissionSight | null = null;
  /** The same of work in queues of pools. */
  queues: MemoryQueues | null = null;

  constructor(
    readonly sim: Sim,
    readonly truth: Truth,
  ) {}

  /** A row was appended. */
  appended(write: TickWrite): void {
    const name = runName(write);
    const run = this.truth.runs.get(name) ?? {
      state: emptyRun(write),
      outcomes: new Map<string, string>(),
      payloads: new Map<string, Uint8Array>(),
    };
    const where = `row ${write.seq} of run ${write.runId}`;
    if (write.seq !== run.state.seq + 1) this.sim.violate(`${where} comes after row ${run.state.seq}`);
    if (run.state.closedAtUs !== null) this.sim.violate(`${where} comes after the end of the run`);
    if (write.atUs > this.sim.nowUs) this.sim.violate(`${where} is of the future`);
    const before = run.state;
    const { payloads } = run;
    const shelf = payloadShelf(write.runId, payloads);
    try {
      for (const { digest, data } of write.payloads ?? []) {
        this.sim.marks.reach('payloads_written');
        payloads.set(Buffer.from(digest).toString('hex'), Buffer.from(data));
      }
      const entries = decodeEntries(write.entries, shelf);
      if (shelf.missing.size > 0) this.sim.violate(`${where} refers to values that its run does not have`);
      checkHeld(this.sim, before, entries, where);
      this.#entries(write, run, entries, where);
      run.state = fold(before, entries, { seq: write.seq, atUs: write.atUs });
      checkFamily(this.sim, this.truth, run.state, entries);
    } catch (error) {
      this.sim.violate(`${where} does not fold: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    this.truth.runs.set(name, run);
    const isNew = run.state.familySlug === 'test' && this.truth.deployed.has(run.state.version);
    if (write.seq === 1 && isNew) this.sim.marks.reach('deployed');
    this.#header(write, before, run.state, where);
    this.#snapshot(write, run.state, shelf, where);
    this.#successor(write, run.state, where);
  }

  /** A run that is continued has a successor, which continues it. */
  #successor({ tenantId, atUs, successor }: TickWrite, after: RunState, where: string): void {
    if ((after.continuedAs ?? undefined) !== successor?.runId) {
      this.sim.violate(`${where} is continued as ${after.continuedAs ?? 'nothing'}`);
    }
    if (successor === undefined) return;
    this.sim.marks.reach('continued');
    const rest = { snapshot: null, startKey: null, consumed: [] };
    this.appended({ tenantId, atUs, seq: 1, ...successor, ...rest });
    const { chain = null, version = 0 } = this.truth.state({ tenantId, runId: successor.runId }) ?? {};
    if (chain?.previousId !== after.runId || chain.no !== (after.chain?.no ?? 1) + 1) {
      this.sim.violate(`run ${successor.runId} does not continue ${after.runId}`);
    }
    if (version !== after.version) this.sim.marks.reach('continued_otherwise');
  }

  #entries(write: TickWrite, run: TrueRun, entries: readonly Entry[], where: string): void {
    const due = new Map<string, number>();
    // A termination waits for nothing.
    const isTerminated = entries.some(({ kind }) => kind === 'run_terminated');
    for (const entry of entries) {
      this.#mark(entry, run.state);
      if (this.claims !== null) checkClaimEntry(this.sim, this.claims, run.state, entry);
      if (this.sight !== null) checkWhy(this.sim, this.sight, run.state, entry);
      if (this.queues !== null) checkQueueEntry(this.sim, this.queues, run.state, entry);
      if (!isTerminated && !this.#isGivenUp(write, entry) && isEarly(entry, due, run.state, this.sim.nowUs)) {
        this.sim.violate(`${where}: ${entry.kind} before its time`);
      }
      noteDue(entry, due);
      if (entry.kind === 'signal_received') this.#heard(write, entry, where);
      // Refused as it was received: it is heard by its answer.
      if (entry.kind === 'update_answered' && !this.#isHeard(write, entry)) this.#heard(write, entry, where);
      if (OUTCOMES.has(entry.kind) && 'attempt' in entry && entry.attempt > 0) this.#outcome(write, run, entry, where);
    }
  }

  #isGivenUp(write: TickWrite, entry: Entry): boolean {
    if (!('path' in entry) || !('attempt' in entry)) return false;
    return this.truth.givenUp.has(attemptName({ ...write, path: entry.path, attempt: entry.attempt }));
  }

  #isHeard(write: TickWrite, signal: Pick<Signal, 'name' | 'id'>): boolean {
    return this.truth.heardSignals.has(signalName(write.tenantId, this.truth.chainId(write), signal));
  }

  #heard(write: TickWrite, signal: Pick<Signal, 'name' | 'id'>, where: string): void {
    const name = signalName(write.tenantId, this.truth.chainId(write), signal);
    if (!this.truth.mailedSignals.has(name)) this.sim.violate(`${where}: signal ${name} was never sent`);
    const beforeUs = this.truth.heardSignals.get(name);
    if (beforeUs !== undefined && this.sim.nowUs - beforeUs < KNOWN_US)
      this.sim.violate(`${where}: signal ${name} is heard again`);
    this.truth.heardSignals.set(name, this.sim.nowUs);
  }

  #outcome(write: TickWrite, run: TrueRun, entry: Entry & { readonly path: string }, where: string): void {
    const attempt = 'attempt' in entry ? entry.attempt : 0;
    const short = `${entry.path}#${attempt}`;
    const earlier = run.outcomes.get(short);
    if (earlier !== undefined) this.sim.violate(`${where}: ${short} has ${entry.kind} after ${earlier}`);
    run.outcomes.set(short, entry.kind);
    const name = attemptName({ ...write, path: entry.path, attempt });
    if (!wasProduced(entry, this.truth.produced.get(name) ?? [])) {
      this.sim.violate(`${where}: ${entry.kind} of ${short} is no result of that attempt`);
    }
  }

  #header(write: TickWrite, before: RunState, after: RunState, where: string): void {
    if (write.header === null) {
      if (headerChanged(before, after)) this.sim.violate(`${where} leaves an old header`);
      return;
    }
    if (write.header.shard !== shardOf(write.runId)) this.sim.violate(`${where} has a header of another shard`);
    if (!isSameHeader(write.header, headerOf(after))) {
      const [said, is] = [JSON.stringify(write.header), JSON.stringify(headerOf(after))];
      this.sim.violate(`${where} has the header ${said}, its fold says ${is}`);
    }
  }

  #snapshot(write: TickWrite, after: RunState, shelf: PayloadShelf, where: string): void {
    if (write.snapshot === null) return;
    this.sim.marks.reach('snapshot_written');
    const { tenantId, runId, seq } = write;
    const decoded = decodeSnapshot({ tenantId, runId, seq }, write.snapshot, shelf);
    if (shelf.missing.size > 0) this.sim.violate(`${where} has a snapshot that refers to values its run does not have`);
    // In which order a state was put together is no part of it.
    if (decoded === null || !isDeepStrictEqual(asJson(decoded), asJson(after))) {
      this.sim.violate(`${where} has a snapshot that is not its fold`);
    }
  }

  #mark(entry: Entry, before: RunState): void {
    const { marks } = this.sim;
    switch (entry.kind) {
      case 'step_scheduled':
        if (entry.attempt > 1) marks.reach('retry_after_backoff');
        return;
      case 'step_running':
        return marks.reach('attempt_noted');
      case 'step_cancelled':
        if (entry.attempt > 0) marks.reach(entry.abandoned ? 'cancel_abandoned' : 'cancel_acknowledged');
        return;
      case 'attempt_failed':
      case 'step_failed':
        if (entry.error.code === 'timeout') marks.reach('attempt_timed_out');
        if (entry.error.code === 'worker_lost') marks.reach('worker_lost');
        if (entry.error.code === 'recipient_capacity_exhausted') marks.reach('selection_refused');
        if (entry.error.code === 'workflow_not_published') marks.reach('child_unknown');
        if (entry.error.code === 'value_too_large') marks.reach('value_too_large');
        return;
      case 'signal_taken':
        return marks.reach('signal_taken');
      case 'update_answered':
        return marks.reach(entry.error === null ? 'update_answered' : 'update_failed');
      case 'approval_escalated':
        return marks.reach('approval_escalated');
      case 'slate_reserved':
        return marks.reach('selected');
      case 'body_failed':
        if (isRanked(before, entry.path, entry.index)) marks.reach('fell_through');
        return;
      case 'step_asked':
        if (before.familySlug === 'wide' || before.familySlug === 'twig') marks.reach('step_waited_for_room');
        return;
      case 'run_paused':
        return marks.reach('paused');
      case 'run_resumed':
        return marks.reach(before.paused === null ? 'parked_resumed' : 'resumed');
      case 'run_terminated':
        return marks.reach('terminated');
      case 'run_compensating':
        return marks.reach('compensated');
      case 'cancel_requested':
        if (before.parked !== null) marks.reach('cancel_of_parked');
        return;
      case 'run_parked':
        if (entry.code === 'poison_commit') marks.reach('poison_parked');
        if (entry.code === 'machine_error') marks.reach('machine_parked');
        if (entry.code === 'worker_lost') marks.reach('lost_workers_parked');
        return;
      default:
        return;
    }
  }
}

/** Whether another recipient is left that was chosen, too. */
function isRanked({ steps }: RunState, path: string, index: number): boolean {
  const body = steps.get(path)?.body;
  return body?.kind === 'select' && body.begun === index + 1 && body.begun < body.count;
}

/** A state as JSON holds it. */
function asJson(state: RunState): unknown {
  return JSON.parse(JSON.stringify(plainState(state)));
}
