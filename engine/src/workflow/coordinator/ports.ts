/**
 * What the coordinator needs from outside. Each port has two implementations, the real one and a simulated one; one
 * contract suite runs on both.
 */
import type { Deed } from '../../tenancy/index.js';
import type { PayloadWrite } from '../journal/payloads.js';
import type { MessageKind, RunInput } from '../machine/inputs.js';
import type { Plan } from '../machine/plan.js';
import type { RunStatus, SubStep } from '../machine/state.js';
import type { Value } from '../machine/value.js';
import type { ProbeStore } from './probe-ports.js';
import type { CommitLane, GateChanges, GateLocks, GateUsage } from './gate-ports.js';
import type { SelectionAnswers, SelectionAsk } from './gate-ports.js';

/** A run, by tenant and id. */
export interface RunKey {
  readonly tenantId: string;
  readonly runId: string;
}

/** Where a run stands that continues another one. */
export interface ChainPlace {
  /** The first run of the chain. */
  readonly chainId: string;
  /** From 2 on, one more with each run. */
  readonly no: number;
}

/** Row of `runs`: written at start, when active changes, on public state change, at close; never for seq. */
export interface RunHeader extends RunKey {
  /** Last byte of the run id. */
  readonly shard: number;
  readonly familySlug: string;
  readonly version: number;
  readonly status: RunStatus;
  /** Some attempt is scheduled, running or being cancelled: a takeover loads this run at once. */
  readonly active: boolean;
  /** Next time the run goes on by itself; null when closed or when only outside facts move it. */
  readonly wakeAtUs: number | null;
  readonly startedAtUs: number;
  readonly closedAtUs: number | null;
  readonly attributes: Readonly<Record<string, string>>;
  /** Of a run that a step of another one started: the run at the top of its family; null otherwise. */
  readonly rootId: string | null;
  /** The same for the run whose step it was. */
  readonly parentId: string | null;
  /** Null for a run that continues none. */
  readonly chain: ChainPlace | null;
}

/** The first row of a run that continues another one. */
export interface Successor {
  /** In the shard of the run that it continues. */
  readonly runId: string;
  readonly entries: Uint8Array;
  readonly header: RunHeader;
  /** Large values that its entries refer to. */
  readonly payloads: readonly PayloadWrite[];
}

/** Claim of an idempotency key, made in the commit that starts the run. */
export interface StartKey {
  readonly key: string;
  /** SHA-256 of the canonical input, 32 bytes; of a run key anything. */
  readonly fingerprint: Uint8Array;
  /** It is a run key: held until its chain ends, not for 30 days. Default: false. */
  readonly untilEnd?: boolean;
}

/** What run keys begin with where they stand among idempotency keys, which may not begin so. */
export const OWN_KEYS = 'ductor:';

/** A run key as a start key. */
export function runKeyAsStartKey(runKey: string): StartKey {
  return { key: `${OWN_KEYS}run/${runKey}`, fingerprint: new Uint8Array(32), untilEnd: true };
}

/**
 * One run's part of a batch. Two forms:
 * - A tick: `entries` is not empty; journal row `seq` is appended and all else is done with it or not at all.
 * - A consumption: `entries` has length 0; no journal row, `seq` says nothing, header, snapshot and startKey are null.
 *   Only `consumed` is deleted, behind the same fence; its outcome is always 'written', also when a row was gone
 *   already or the run does not exist. It exists because messages the machine ignored have to leave the mailbox too.
 *   `consumed` may be empty: the write then only proves the fence, before a worker is told "already settled". In the
 *   gate lane its `messages` go out, too.
 */
export interface TickWrite extends RunKey {
  /** Journal row to append; 1 starts the run and inserts `header`. */
  readonly seq: number;
  readonly atUs: number;
  readonly entries: Uint8Array;
  /** null: the header stays as it is. */
  readonly header: RunHeader | null;
  /** null: no snapshot now. */
  readonly snapshot: Uint8Array | null;
  readonly startKey: StartKey | null;
  /** The chain ends with the row: the key that it held is free with it. Absent: it held none. */
  readonly frees?: string;
  /** Of a start: how long the run is kept after its end, ms. Absent or null: as long as the tenant keeps runs. */
  readonly retentionMs?: number | null;
  /** Inbox rows this tick consumed; deleted with the commit. */
  readonly consumed: readonly number[];
  /** Large values that entries or snapshot refer to; stored with the commit where they are not yet. Absent: none. */
  readonly payloads?: readonly PayloadWrite[];
  /** Messages that go into the mailboxes of other runs with this row, whether those runs exist or not. */
  readonly messages?: readonly Omit<InboxMessage, 'id'>[];
  /** Of a start: whose deed it is, for the audit trail. Absent or null: nobody's, or no start. */
  readonly by?: Deed | null;
  /**
   * The tick ends a run to whose messages somebody may hold us: it is written only when the run's mailbox holds nothing
   * but `consumed`, and no message can come beside it. Otherwise the outcome is 'unread'. Default: false.
   */
  readonly needsEmptyBox?: boolean;
  /** The run that continues this one, which ends: written with the row, at its time, or not at all. Absent: none. */
  readonly successor?: Successor;
}

/**
 * What became of one TickWrite. key_taken: another run holds the idempotency key; unread: the mailbox holds messages
 * that the tick has not consumed. In either case nothing was written for this one.
 */
export type TickOutcome = 'written' | 'conflict' | 'key_taken' | 'unread';

/** What became of a batch. */
export type CommitOutcome =
  | { readonly kind: 'committed'; readonly ticks: readonly TickOutcome[] }
  /** The node is fenced: nothing was written, nothing ever will be by this incarnation. */
  | { readonly kind: 'fenced' }
  /** Nothing was written, because of what the batch holds (SQLSTATE class 22, 23, 54): bisect. */
  | { readonly kind: 'rejected'; readonly sqlState: string; readonly message: string }
  /** Nothing was written (40001, 40P01, 55P03): repeat the same batch. */
  | { readonly kind: 'repeat'; readonly sqlState: string }
  /** The answer was lost: it may be written, or may still become so until `settle` has returned. */
  | { readonly kind: 'unknown'; readonly message: string };

/** A run as stored: the newest usable snapshot and the rows after it. */
export interface StoredRun extends RunKey {
  readonly header: RunHeader;
  readonly snapshot: { readonly seq: number; readonly data: Uint8Array } | null;
  /** Ascending by seq, without a gap, from snapshot.seq + 1 or 1. */
  readonly rows: readonly { readonly seq: number; readonly atUs: number; readonly entries: Uint8Array }[];
}

/** An earlier start under an idempotency key. */
export interface ExistingStart {
  readonly runId: string;
  readonly version: number;
  readonly fingerprint: Uint8Array;
}

/** Names a large value of a run. */
export interface PayloadKey extends RunKey {
  /** SHA-256 of its bytes, lower case hex. */
  readonly digest: string;
  /** Its size in bytes: a store reads so many at a time as are not too large together. */
  readonly size: number;
}

/** A large value as stored. */
export interface StoredPayload extends RunKey {
  readonly digest: string;
  readonly data: Uint8Array;
}

/** What is to be written. */
export interface GateDecision extends GateChanges {
  /** More of a line has to be read before this is right: nothing of it is written. */
  readonly isShort: boolean;
  readonly ticks: readonly TickWrite[];
}

/** What became of a batch of the gate lane; undone: not every tick could be written, so nothing was. */
export type GateOutcome = CommitOutcome | { readonly kind: 'undone'; readonly ticks: readonly TickOutcome[] };

/** Journal, headers and start keys. Calls may throw database_unavailable, except where an outcome says it. */
export interface RunStore {
  /** Appends all ticks of a batch in one statement behind the fence. A run is in at most one batch in flight. */
  commit(nodeId: string, ticks: readonly TickWrite[]): Promise<CommitOutcome>;
  /**
   * After an unknown outcome of a lane (default: plain): waits, on a new connection, until the lost transaction has
   * ended one way or the other. False: this node is fenced.
   */
  settle(nodeId: string, lane?: CommitLane): Promise<boolean>;
  /**
   * Appends ticks that touch shared authority: takes all locks in one order, reads what is used, lets `decide` say what
   * is to be written, and writes it all or nothing. `decide` is called at once, must not wait, and is called again with
   * longer lines as long as it says that they are too short; what it said last counts.
   */
  commitGated(nodeId: string, locks: GateLocks, decide: (usage: GateUsage) => GateDecision): Promise<GateOutcome>;
  /** Has strategies in apps' code answer what a selection has to ask them; fills in what they say. Locks nothing. */
  askStrategies(selection: SelectionAsk, said: SelectionAnswers): Promise<void>;
  /** The runs that exist, in any order. */
  load(keys: readonly RunKey[]): Promise<readonly StoredRun[]>;
  /** The large values that exist, in any order. */
  payloads(keys: readonly PayloadKey[]): Promise<readonly StoredPayload[]>;
  /** Runs of these shards that are active, after this run id, in run id order, at most `limit`. */
  listActive(shards: readonly number[], afterRunId: string, limit: number): Promise<readonly RunKey[]>;
  /** Runs of these shards that are not active and have wakeAtUs <= horizonUs, by wakeAtUs, at most `limit`. */
  listDue(
    shards: readonly number[],
    horizonUs: number,
    limit: number,
  ): Promise<readonly (RunKey & { readonly wakeAtUs: number })[]>;
  /** The runs that hold these keys; absent where there is none (any more). */
  findStarts(
    keys: readonly { readonly tenantId: string; readonly familySlug: string; readonly key: string }[],
  ): Promise<readonly (ExistingStart | undefined)[]>;
}

export type { MessageKind };

const OF_RUNS: ReadonlySet<RunInput['kind']> = new Set([
  'result',
  'sub_step',
  'start',
  'child_closed',
  'claim_told',
  'route_told',
  'semaphore',
] as const);

/**
 * Whether a message is meant for this very run. Any other is meant for its chain: it may be sent to each of its runs,
 * and the last one gets it.
 */
export function isForRun(kind: RunInput['kind']): boolean {
  return OF_RUNS.has(kind);
}

/** A message to a run that may be owned elsewhere; kept until the commit that consumes it. */
export interface InboxMessage extends RunKey {
  /** Ascending; order of arrival. */
  readonly id: number;
  readonly kind: MessageKind;
  /** An input to the machine, encoded by workflow/journal. */
  readonly body: Uint8Array;
  /** Whose deed it is, for the audit trail; only what is sent has it. Absent or null: nobody's. */
  readonly by?: Deed | null;
  /** Of a start: the family of the child, where it may hold reservations. Absent: it may not, or it is no start. */
  readonly familyId?: string;
}

/**
 * What became of a message. busy: the run was about to end and is to read its box first; nothing was put there, and the
 * same message may be sent again in a moment. full: a signal met a box that holds as many messages as it may.
 */
export type SendOutcome = 'sent' | 'not_open' | 'busy' | 'full';

/** Messages a box holds before signals are refused as full. */
export const BOX_MESSAGES_MAX = 1_000;

/** Bytes of messages a box holds before signals are refused as full. */
export const BOX_BYTES_MAX = 8 * 1024 * 1024;

/** How long a box stays sealed after a tick that ends its run found messages in it, ms. */
export const BOX_SEALED_MS = 500;

/** The mailbox. */
export interface InboxStore {
  /**
   * Puts messages in the boxes of open runs, in one transaction. One answer each. A message that was sent is there for
   * the run's owner to see before the run can end by a tick that needs an empty box. A run that was continued passes on
   * what is meant for its chain.
   */
  send(messages: readonly Omit<InboxMessage, 'id'>[]): Promise<readonly SendOutcome[]>;
  /** All messages of these shards in id order, at most `limit`; those for a chain name its last run. */
  read(shards: readonly number[], limit: number): Promise<readonly InboxMessage[]>;
}

/** A node as the cluster sees it. */
export interface ClusterNode {
  readonly nodeId: string;
  readonly address: string;
  /** Its lease has not run out by database time and it is not fenced. */
  readonly live: boolean;
  /** Its liveness session is open: a process that was killed loses it within moments, long before its lease. */
  readonly sessionOpen: boolean;
  /** Shards it owns. */
  readonly shards: readonly number[];
}

/** What a heartbeat learns. */
export interface ClusterView {
  /** Database time at the heartbeat, microseconds since 1970. */
  readonly nowUs: number;
  /** This node is fenced, or its row is gone. */
  readonly fenced: boolean;
  /** All nodes that own shards or are live, this one included. */
  readonly nodes: readonly ClusterNode[];
  /** Shards that no node owns. */
  readonly unowned: readonly number[];
  /** Shards of this node with waiting inbox messages. */
  readonly inboxShards: readonly number[];
  /** Shards of this node that were taken from one that ended without leaving, within SUSPECT_MS. Absent: none. */
  readonly crashedShards?: readonly number[];
  /** When the lease of another live node runs out first, database time; null: there is no other. */
  readonly nextLeaseEndUs: number | null;
}

/** Membership, leases and shard ownership (docs: engine fencing). All times are the database's. */
export interface ClusterStore extends ProbeStore {
  /** Makes the node's rows with a fresh lease. */
  register(node: { readonly nodeId: string; readonly address: string; readonly leaseMs: number }): Promise<void>;
  /** Renews the lease and looks around, in one statement. */
  heartbeat(nodeId: string, leaseMs: number): Promise<ClusterView>;
  /** Takes unowned shards, as many as are still unowned. Returns those it got. */
  claim(nodeId: string, shards: readonly number[]): Promise<readonly number[]>;
  /**
   * Fences a node whose lease ran out or whose session is gone, waiting for its commits in flight, then moves these of
   * its shards to the taker. Returns the shards moved; none when the node turned out to be alive.
   */
  takeOver(takerId: string, deadNodeId: string, shards: readonly number[]): Promise<readonly number[]>;
  /** Gives shards of this node, whose lane is drained, to a live node. */
  handOver(nodeId: string, toNodeId: string, shards: readonly number[]): Promise<void>;
  /** Ends this incarnation: shards become unowned, its rows go. The lane must be drained. */
  leave(nodeId: string): Promise<void>;
}

/** Compiled definitions. */
export interface PlanSource {
  /** From memory only. */
  peek(tenantId: string, familySlug: string, version: number): Plan | undefined;
  /** Loads and compiles; undefined when there is no such version. */
  load(tenantId: string, familySlug: string, version: number): Promise<Plan | undefined>;
  /** The current version: 0 when none was published, undefined when there is no such workflow. */
  current(tenantId: string, familySlug: string): Promise<number | undefined>;
}

/** Names an attempt. */
export interface AttemptRef extends RunKey {
  readonly path: string;
  readonly attempt: number;
}

/** A step body to run. */
export interface Task extends AttemptRef {
  readonly familySlug: string;
  readonly version: number;
  readonly handler: string;
  readonly queue: string;
  readonly input: Value;
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  /** Longest time between two signs of life; null: none are asked for. */
  readonly heartbeatTimeoutMs: number | null;
  /** What attempts of the step have done so far; absent: nothing. */
  readonly subSteps?: readonly SubStep[];
  /** What an earlier attempt reported last of its progress. */
  readonly lastProgress: Value | null;
  /** W3C trace context of the run's trigger; absent: none. */
  readonly traceparent?: string;
  /** 1 (first) to 5 (last). */
  readonly priority: number;
  /** Whose turn it is within its tenant and priority; empty: nobody's in particular. */
  readonly fairnessKey: string;
  /** Slots of a worker that it takes; a worker with fewer gives all it has. */
  readonly slots: number;
}

/** An attempt to stop. */
export interface AbortOrder extends AttemptRef {
  readonly reason: 'cancelled' | 'timed_out' | 'superseded';
}

/** Carries tasks to workers. Memory only: whatever it forgets, the coordinator dispatches again. */
export interface Invoker {
  /** Queues tasks for workers. An attempt that is queued or out already is not queued twice. */
  dispatch(tasks: readonly Task[]): void;
  /** Takes attempts off the queue, or tells their worker to stop. Returns those that no worker ever got. */
  abort(orders: readonly AbortOrder[]): readonly AttemptRef[];
  /**
   * Takes attempts off the queue that no worker has got; what is out with workers stays out. Absent: they stay queued,
   * and what they answer is recorded.
   */
  withdraw?(refs: readonly AttemptRef[]): void;
  /**
   * The attempt has an outcome that came by the mailbox: whoever it was sent to from here has it no more, though
   * nothing of that was said on its stream. Absent: what was sent counts as being there until the stream ends.
   */
  settled?(ref: AttemptRef): void;
  /** Forgets everything queued for runs of these shards; what is out with workers stays out. */
  dropShards(shards: readonly number[]): void;
  /**
   * Asks every connected worker what it holds and returns whom it asked; each answers by Coordinator.workerConnected.
   * Called after a takeover, so that attempts that are already out are not sent twice. Absent: nobody can be asked, and
   * nothing is waited for.
   */
  inventory?(): readonly string[];
}

/** Wake-ups between nodes; losing one costs latency, never correctness. */
export interface Bus {
  /** Says something to all nodes, this one included where it listens. */
  publish(topic: BusTopic, body: string): void;
  /** Hears what is said from now on. Returns how to stop. */
  subscribe(topic: BusTopic, listener: (body: string) => void): () => void;
}

/** Topics: inbox (body: shard number), runs (body: ids of runs that changed publicly, by commas), cluster (no body). */
export type BusTopic = 'inbox' | 'runs' | 'cluster';
