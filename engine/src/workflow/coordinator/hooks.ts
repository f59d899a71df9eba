/** What a coordinator tells about itself: figures and log lines. Adapters to metrics and logs live above. */
import type { CommitOutcome } from './ports.js';
import type { Refusal } from './start-door.js';
import type { ParkCode } from './tick.js';

/** How much a log line matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One statement's worth of work. */
export interface BatchFacts {
  /** Runs in it. */
  readonly runs: number;
  /** Bytes of entries and snapshots. */
  readonly bytes: number;
  /** Time of advance and encoding of all runs together, ms. */
  readonly computeMs: number;
  /** From sending the statement to its answer, ms. */
  readonly commitMs: number;
  /** From when the run that waited longest had something to do to the answer, ms. */
  readonly latencyMs: number;
  readonly outcome: CommitOutcome['kind'];
  /** Runs left waiting for the next batch. */
  readonly waiting: number;
  /** Who is in it; made when asked for. */
  readonly members: () => readonly BatchMember[];
}

/** A run of a batch. */
export interface BatchMember {
  readonly runId: string;
  /** W3C trace context of its trigger. */
  readonly traceparent: string | undefined;
}

/** All callbacks. None may throw or call back into the coordinator. */
export interface CoordinatorHooks {
  /** After each statement. */
  readonly batch: (facts: BatchFacts) => void;
  /** Runs whose journal another writer had appended to. */
  readonly conflicts: (runs: number) => void;
  /** A commit was refused by the fence, or a heartbeat said that this node is fenced. */
  readonly fenced: () => void;
  /** The answer of a commit was lost; so many runs were evicted. */
  readonly unknownOutcome: (runs: number) => void;
  /** A run was parked by the coordinator itself. */
  readonly parked: (code: ParkCode) => void;
  /** A start was refused at the door. */
  readonly startRefused: (why: Refusal) => void;
  /** A run is woken so long after it was due, microseconds. */
  readonly timerLate: (lateUs: number) => void;
  /** Bytes and runs in the cache, after a batch. */
  readonly cache: (bytes: number, runs: number) => void;
  /** Shards this node owns now. */
  readonly shards: (count: number) => void;
  readonly log: (level: LogLevel, message: string, facts: Readonly<Record<string, unknown>>) => void;
}

const nothing = (): void => undefined;

/** Hooks that do nothing. */
export const SILENT_HOOKS: CoordinatorHooks = {
  batch: nothing,
  conflicts: nothing,
  fenced: nothing,
  unknownOutcome: nothing,
  parked: nothing,
  startRefused: nothing,
  timerLate: nothing,
  cache: nothing,
  shards: nothing,
  log: nothing,
};
