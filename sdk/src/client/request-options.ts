/** What calls of the client take beside the obvious. */
import type { RunStateName } from './run-view.js';

/** How a run is started. */
export interface TriggerOptions {
  /** Starting again with the same key and input answers the first run, for 30 days. At most 128 characters. */
  readonly idempotencyKey?: string;
  /**
   * At most one run of the workflow is open with a key. While one is, `onOpen` says what becomes of a trigger. At most
   * 128 characters; not together with an idempotencyKey.
   */
  readonly runKey?: string;
  /** While a run with the runKey is open: "answer" (default) answers that run, "refuse" throws run_key_taken. */
  readonly onOpen?: 'answer' | 'refuse';
  /** A published version. Default: the current one. */
  readonly version?: number;
  /** Searchable labels. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** How long the run is kept after its end, "1m" to "3650d". Default: as its workflow says. */
  readonly retention?: string;
}

/** What is said to a run that may have to be started for it. */
export interface SignalWithStartOptions extends Omit<TriggerOptions, 'idempotencyKey' | 'onOpen' | 'runKey'> {
  /** Which run: at most one of the workflow is open with a key. */
  readonly runKey: string;
  /** Name of the signal. */
  readonly signal: string;
  /** What it carries. Default: null. */
  readonly payload?: unknown;
  /** A run receives the same id once, within 24 hours. Default: one that is drawn. */
  readonly id?: string;
}

/** What to list. */
export interface ListOptions {
  readonly state?: RunStateName;
  readonly workflow?: string;
  /** Only runs that started at this time or later. */
  readonly startedAfter?: Date;
  /** Only runs that started before this time. */
  readonly startedBefore?: Date;
  /** Only runs that have all of these, at most 8. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Only the runs below this one in its family. */
  readonly root?: string;
  /** Only runs that steps of this run started. */
  readonly parent?: string;
  /** Runs per page, 1 to 200. Default 50. */
  readonly pageSize?: number;
  /** Where the last page ended. */
  readonly cursor?: string;
}

/** What is done with each run of a batch; RETRY of parked runs only. */
export type BatchActionName = 'CANCEL' | 'TERMINATE' | 'PAUSE' | 'RESUME' | 'RETRY';

/**
 * Open runs that have all of what is given; nothing given: all open runs. RETRY is of parked ones, or with state
 * FAILED, CANCELLED, TIMED_OUT or TERMINATED of runs that ended so: each is tried again by a new run, once.
 */
export interface BatchFilter extends Omit<ListOptions, 'pageSize' | 'cursor'> {
  /** Only parked runs of this group of dead letters. */
  readonly fingerprint?: string;
}

/** How a batch is carried out. */
export interface BatchRunOptions {
  /** Of the preview of the same action and filter. */
  readonly confirmation: string;
  /** Why; it stands in the histories and in the audit trail. At most 4096 characters. */
  readonly reason?: string;
  /** Runs a page, 1 to 200. Default 100. */
  readonly pageSize?: number;
  /** nextCursor of the last page that was carried out. Default: from the first. */
  readonly cursor?: string;
}
