/**
 * A run in memory: its state, and the facts that wait to be applied to it.
 *
 * Phases
 *   cold -> loading (asked of the store) -> ready -> in_flight (in the batch being committed) -> ready | cold
 *   in_flight -> unsettled (what was committed may still be written: not to be loaded yet) -> cold
 *   ready with `state` null: the store has no such run.
 * Invariants:
 * 1. `state` is what is committed; it is replaced only after a commit, or forgotten (cold) when that is not sure.
 * 2. A cell is in at most one batch: only a ready cell is taken, and it stays in_flight until the batch is settled.
 * 3. Inputs leave `inputs` when a batch takes them, and come back to its front when the batch did not write them.
 */
import { shardOf } from '../../kernel/index.js';
import type { RunInput } from '../machine/inputs.js';
import type { Plan } from '../machine/plan.js';
import type { RunState } from '../machine/state.js';
import type { GateAsked } from './asking-gate.js';
import type { SelectionAnswers, SelectionAsk } from './gate-ports.js';
import type { ResultAck, StartOutcome, StartRequest } from './coordinator.js';
import type { RunKey } from './ports.js';

/** A fact that waits for its tick. */
export interface PendingInput {
  readonly input: RunInput;
  /** Row of the mailbox it came from; null when it came through memory. */
  readonly inboxId: number | null;
  /** Who waits for the commit of a result. */
  readonly settled: ((ack: ResultAck) => void) | null;
}

/** A start that waits for its commit. */
export interface PendingStart {
  readonly request: StartRequest;
  readonly plan: Plan;
  readonly resolve: (outcome: StartOutcome) => void;
  readonly reject: (error: Error) => void;
}

/** What the next try of a tick in the gate lane locks beside what is known from the start. */
export interface ToLock extends GateAsked {
  /** Pools that its selections came to. */
  readonly pools: readonly string[];
}

const NOTHING_TO_LOCK: ToLock = { keys: [], pools: [], selections: [], items: [], works: [], families: [] };

/** A run in memory. Changed by the lane, the loader and deliver only. */
export interface RunCell extends RunKey {
  /** Of keyOf. */
  readonly key: string;
  readonly shard: number;
  phase: 'cold' | 'loading' | 'ready' | 'in_flight' | 'unsettled';
  state: RunState | null;
  plan: Plan | null;
  /** The current version of its workflow, looked up for the next tick; null: not looked up. */
  current: Plan | null;
  inputs: PendingInput[];
  start: PendingStart | null;
  /** It is in the queue of the next batches. */
  isDirty: boolean;
  /** Since when it is, ms of this process; says nothing while it is not. */
  dirtySinceMs: number;
  /** What must be out is to be compared with what is out, as soon as the state is known. */
  needsReconcile: boolean;
  /** That is because the invoker had no room: what the ledger does not know of is with nobody. */
  isUnsent: boolean;
  /** A public change may have been committed that nobody heard of. */
  isUntold: boolean;
  /** A tick of several inputs was refused for its content: one input a tick until the bad one is found. */
  isOneByOne: boolean;
  /** Its end met messages that were not in the tick: the next one takes all inputs, however many. */
  takesAll: boolean;
  /** Its last try in the gate lane came to something that it had not locked. */
  isGateShort: boolean;
  /** What tries of this tick in the gate lane came to beyond what they had locked; known until it is written. */
  toLock: ToLock;
  /** Selections for which strategies in apps' code have to be asked before it is tried again. */
  unasked: readonly SelectionAsk[];
  /** What they said, by step; null: nobody was asked. */
  said: Map<string, SelectionAnswers> | null;
  /** Its last try alone did not get its locks: nobody can say whether there is room. */
  isLockedOut: boolean;
  /** Conflicts since the last commit that went well. */
  conflicts: number;
  /** Bytes of journal rows since the last snapshot. */
  journalBytes: number;
  /** Bytes of the last snapshot; 0 before the first. */
  snapshotBytes: number;
  /** What the cache counts for it. */
  bytes: number;
  /** It began on this node, and is in memory since. */
  isNew: boolean;
  /** It was used since the cache last looked for something to evict. */
  isRecent: boolean;
}

/** Whether a step of another run starts this one by it. */
export function isBirth({ input }: PendingInput): boolean {
  return input.kind === 'start' && input.birth !== undefined;
}

/** Name of a run among all tenants. */
export function keyOf(run: RunKey): string {
  return `${run.tenantId}/${run.runId}`;
}

/** A cell that knows nothing of its run yet. Throws invalid_argument when the run id is not a UUID. */
export function coldCell(run: RunKey): RunCell {
  return {
    tenantId: run.tenantId,
    runId: run.runId,
    key: keyOf(run),
    shard: shardOf(run.runId),
    phase: 'cold',
    state: null,
    plan: null,
    current: null,
    inputs: [],
    start: null,
    isDirty: false,
    dirtySinceMs: 0,
    needsReconcile: false,
    isUnsent: false,
    isUntold: false,
    isOneByOne: false,
    takesAll: false,
    isGateShort: false,
    toLock: NOTHING_TO_LOCK,
    unasked: [],
    said: null,
    isLockedOut: false,
    conflicts: 0,
    journalBytes: 0,
    snapshotBytes: 0,
    bytes: 0,
    isNew: false,
    isRecent: true,
  };
}

/** Forgets the state, keeps what waits: what is committed is no longer sure. */
export function forget(cell: RunCell): void {
  cell.phase = 'cold';
  cell.state = null;
}

/** Whether nothing waits for this run and nothing of it is under way. */
export function isIdle(cell: RunCell): boolean {
  if (cell.inputs.length > 0 || cell.start !== null || cell.isDirty || cell.needsReconcile) return false;
  return cell.phase === 'ready' || cell.phase === 'cold';
}

/** Forgets what tries in the gate lane had to lock: the tick is written. */
export function forgetGate(cell: RunCell): void {
  cell.isGateShort = false;
  cell.toLock = NOTHING_TO_LOCK;
}
