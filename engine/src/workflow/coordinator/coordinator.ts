/** What api and bridge may ask of the coordinator. */
import type { Deed } from '../../tenancy/index.js';
import type { KeptStep } from '../machine/fork.js';
import type { AttemptOutcome } from '../machine/inputs.js';
import type { Signal } from '../machine/signal-box.js';
import type { ForkLink, RunFailure, RunStatus, SubStep } from '../machine/state.js';
import type { Value } from '../machine/value.js';
import type { AttemptRef, RunKey, StartKey } from './ports.js';

/** A run to start. */
export interface StartRequest {
  readonly tenantId: string;
  readonly familySlug: string;
  readonly version: number;
  readonly input: Value;
  readonly attributes: Readonly<Record<string, string>>;
  readonly startKey: StartKey | null;
  /** Its chain is to be the only open one with this key, which `startKey` holds. Absent: it has none. */
  readonly runKey?: string;
  /** What becomes of a start whose run key an open chain holds. Default: it answers that chain. */
  readonly onOpen?: 'answer' | 'refuse';
  /** A signal that the run has received when it begins. Absent: none. */
  readonly signal?: Signal;
  /** How long the run is kept after its end, ms. Absent: as its plan says. */
  readonly retentionMs?: number;
  /** W3C trace context of the trigger; absent: none. */
  readonly traceparent?: string;
  /** It takes over steps of another run. Absent: it does not. */
  readonly fork?: ForkLink & { readonly kept: readonly KeptStep[] };
  /** Whose deed it is: stands in the audit trail with the commit. Default: nobody's. */
  readonly by?: Deed | null;
}

/** Committed start. */
export interface StartOutcome {
  readonly runId: string;
  readonly version: number;
  /** The key was known: runId is the earlier run, of a run key the first one of the open chain. */
  readonly existing: boolean;
}

/** What became of a result. */
export type ResultAck = 'recorded' | 'already_settled';

/** A run changed publicly; told after the commit. */
export interface RunChange extends RunKey {
  readonly status: RunStatus;
  /** Set once the run is closed. */
  readonly closed: {
    readonly output: Value | null;
    readonly error: RunFailure | null;
    /** The run that continues it; null: none. */
    readonly continuedAs: string | null;
  } | null;
}

/** The serial writer of run state on this node. */
export interface Coordinator {
  /** Registers the node, takes its share of shards, starts ticking. */
  run(): Promise<void>;
  /**
   * Starts a run; resolves after its commit. Throws node_starting, node_fenced, limit_exceeded, invalid_argument,
   * idempotency_conflict, run_key_taken, workflow_not_published.
   */
  start(request: StartRequest): Promise<StartOutcome>;
  /**
   * Hands in a result; `settled` is called after the commit that holds it (or its inbox row), never before. Not called
   * when the node stops: the worker sends again.
   */
  settle(ref: AttemptRef, outcome: AttemptOutcome, settled: (ack: ResultAck) => void): void;
  /**
   * A body has done a part of its work; `settled` is called after the commit that holds it (or its inbox row):
   * already_settled when the step keeps it no more. Not called when the node stops: the worker sends again.
   */
  keep(ref: AttemptRef, subStep: SubStep, settled: (ack: ResultAck) => void): void;
  /** These tasks went out to a worker just now. */
  sent(workerId: string, refs: readonly AttemptRef[]): void;
  /** A worker (re)connected and holds these attempts, running or waiting for their acknowledgement. */
  workerConnected(workerId: string, holds: readonly AttemptRef[]): void;
  /** The last stream of a worker to this node ended. */
  workerGone(workerId: string): void;
  /** A worker lives though it has no stream, or says nothing on it: what it has is not lost yet. */
  workerAlive(workerId: string): void;
  /** A sign of life of a running attempt, perhaps with progress. Ignored unless this node owns the run. */
  heartbeat(ref: AttemptRef, progress: Value | null): void;
  /**
   * Asks an open run to end. Resolves when the request is durable. Throws not_found, run_closed.
   *
   * @param by here and below, whose deed it is: stands in the audit trail with the request. Default: nobody's
   */
  cancel(key: RunKey, reason: string, requestedBy: string, by?: Deed | null): Promise<void>;
  /** Ends an open run at once. Resolves when the request is durable. Throws not_found, run_closed. */
  terminate(key: RunKey, reason: string, requestedBy: string, by?: Deed | null): Promise<void>;
  /** Holds an open run. Resolves when the request is durable. Throws not_found, run_closed. */
  pause(key: RunKey, reason: string, requestedBy: string, by?: Deed | null): Promise<void>;
  /** Lets a run go on that is paused or parked. Resolves when the request is durable. Throws not_found, run_closed. */
  resume(key: RunKey, requestedBy: string, by?: Deed | null): Promise<void>;
  /** The same for a parked run, whose step is tried again at once. */
  retry(key: RunKey, requestedBy: string, by?: Deed | null): Promise<void>;
  /**
   * Says something to an open run. Resolves when it is durable: the run hears it exactly once. What the run's plan
   * makes of it is the caller's to check. Throws not_found, run_closed, mailbox_full.
   */
  signal(key: RunKey, signal: Signal, by?: Deed | null): Promise<void>;
  /** Hears of every public change of runs this node owns. Returns how to stop. */
  onChange(listener: (change: RunChange) => void): () => void;
  /** The invoker refused tasks of these runs for want of room and has room again: dispatches what must be out. */
  recheck(runs: readonly RunKey[], areUnsent?: boolean): void;
  /** Id under which the node owns shards now; another one after a fence. null: none. */
  nodeId(): string | null;
  /** Shards this node owns now. */
  ownedShards(): readonly number[];
  /** Other nodes and this one, from the last heartbeat. */
  liveAddresses(): readonly string[];
  /** The same, each with the id under which it owns shards. */
  liveNodes(): readonly { readonly nodeId: string; readonly address: string }[];
  /** Stops ticking, drains the lane, gives its shards back. */
  stop(): Promise<void>;
}
