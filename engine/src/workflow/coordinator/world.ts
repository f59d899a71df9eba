/** What the parts of one incarnation share. Each part changes only what its own file says it changes. */
import type { Clock, Random } from '../../kernel/index.js';
import type { AttemptLedger } from './attempt-ledger.js';
import type { RunChange } from './coordinator.js';
import type { Heartbeats } from './heartbeats.js';
import type { CoordinatorHooks } from './hooks.js';
import type { CoordinatorOptions } from './options.js';
import type { ClusterStore, InboxStore, Invoker, PlanSource, RunKey, RunStore } from './ports.js';
import type { RunCache } from './run-cache.js';
import type { PendingInput, PendingStart, RunCell } from './run-cell.js';
import type { ShardSet } from './shard-set.js';
import type { SuspectGate } from './suspect-gate.js';
import type { WakeTimers } from './wake-timers.js';

/** What outlives incarnations. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly options: CoordinatorOptions;
  readonly hooks: CoordinatorHooks;
  readonly runs: RunStore;
  readonly inbox: InboxStore;
  readonly cluster: ClusterStore;
  readonly plans: PlanSource;
  readonly invoker: Invoker;
  readonly ledger: AttemptLedger;
  readonly heartbeats: Heartbeats;
  /** Tells listeners and the bus of public changes. */
  readonly tell: (changes: readonly RunChange[]) => void;
  /** Hands a result on through the mailbox: this node does not own its run, or no longer. */
  readonly forward: (run: RunKey, pending: PendingInput) => void;
  /** Messages went into the boxes of these shards. */
  readonly mailed: (shards: readonly number[]) => void;
  /** Looks at the clock of the node, not of the incarnation: stop() was called. */
  readonly isStopping: () => boolean;
}

/** One incarnation: a node id with its lease, its shards, its runs. */
export interface World extends Surroundings {
  readonly nodeId: string;
  readonly cache: RunCache;
  readonly shards: ShardSet;
  readonly timers: WakeTimers;
  /** Fenced or stopped: nothing may be written or sent any more. */
  readonly isEnded: () => boolean;
  /** The lease holds by this node's own clock. */
  readonly hasLease: () => boolean;
  /** A fence was met: the incarnation ends. */
  readonly fenced: () => void;
  /** Puts a cell with inputs on its way to a batch, loading it first when it is cold. */
  readonly enqueue: (cell: RunCell) => void;
  /** The next tick of a ready cell with inputs touches what runs share. */
  readonly toGate: (cell: RunCell) => void;
  /** Runs that may end their engine. */
  readonly suspects: () => SuspectGate;
  /** Asks the store for a cold cell. */
  readonly want: (cell: RunCell) => void;
  /** Hands a fact in. */
  readonly deliver: (run: RunKey, pending: PendingInput) => void;
  /** There are messages for the shard. */
  readonly readMail: (shard: number) => void;
  /** A mailbox row is consumed, or nobody here holds it any more. */
  readonly released: (inboxId: number) => void;
  /** Another run holds the idempotency key of this start. */
  readonly keyTaken: (start: PendingStart) => void;
  /** A start left the queue, one way or the other. */
  readonly startEnded: (start: PendingStart) => void;
}
