/**
 * State of a run: the fold of its journal. Read-only everywhere; `fold` alone makes a next one.
 *
 * Run status
 *   PENDING -> RUNNING <-> WAITING -> COMPLETED | FAILED
 *   RUNNING | WAITING -> CANCELLING -> CANCELLED
 *   RUNNING | WAITING | CANCELLING <-> PARKED
 * Step status (a step that is not in `steps` is PENDING)
 *   PENDING -> SCHEDULED -> RUNNING -> COMPLETED | FAILED | BACKOFF;  BACKOFF -> SCHEDULED (next attempt)
 *   PENDING -> WAITING -> COMPLETED;  PENDING -> COMPLETED | FAILED (done by the coordinator itself)
 *   PENDING -> SKIPPED
 *   SCHEDULED | RUNNING -> CANCELLING -> COMPLETED | FAILED | CANCELLED;  BACKOFF | WAITING -> CANCELLED
 */
import type { Value, ValueSource } from './value.js';

/** Public state of a run. */
export type RunStatus =
  | 'PENDING'
  | 'RUNNING'
  | 'WAITING'
  | 'PAUSED'
  | 'PARKED'
  | 'CANCELLING'
  | 'COMPLETED'
  | 'FAILED'
  | 'CANCELLED'
  | 'TIMED_OUT'
  | 'TERMINATED'
  | 'CONTINUED';

/** State of a step. */
export type StepStatus =
  'SCHEDULED' | 'RUNNING' | 'BACKOFF' | 'WAITING' | 'CANCELLING' | 'COMPLETED' | 'FAILED' | 'SKIPPED' | 'CANCELLED';

/** A failure as the journal keeps it. */
export interface RunFailure {
  /** Code from the catalogue or the name a step body gave. */
  readonly code: string;
  readonly message: string;
  /** Path of the step; empty for the run itself. */
  readonly step: string;
  /** Attempt from 1; 0 when none was made. */
  readonly attempt: number;
  readonly retryable: boolean;
  /** As the worker reported it; empty when unknown. */
  readonly stack: string;
}

/** State of one step. */
export interface StepState {
  readonly path: string;
  readonly status: StepStatus;
  /** Attempts begun; 0 for steps the coordinator does itself. */
  readonly attempt: number;
  /** What all attempts receive; null for steps without input. */
  readonly input: ValueSource | null;
  /** Set when COMPLETED. */
  readonly output: Value | null;
  /** Of the last attempt that failed. */
  readonly error: RunFailure | null;
  /**
   * When time changes this step: attempt deadline (RUNNING), next attempt (BACKOFF), end of wait (WAITING), give-up
   * (CANCELLING).
   */
  readonly dueAtUs: number | null;
  /** Worker of a noted attempt. */
  readonly worker: string | null;
  /** Attempts lost with their worker since the last one that answered. */
  readonly lostInARow: number;
}

/** All steps that are no longer PENDING, by path in order of their first entry, with sums kept as steps change. */
export interface StepTable extends ReadonlyMap<string, StepState> {
  /** Steps that are SCHEDULED, RUNNING or CANCELLING. */
  readonly active: number;
  /** Steps that are BACKOFF or WAITING. */
  readonly waiting: number;
  /** Least dueAtUs of all steps; null when time changes none. */
  readonly nextDueUs: number | null;
  /** Estimate of the memory all steps take, in bytes. */
  readonly bytes: number;
}

/** State of a run after `seq` rows of its journal. */
export interface RunState {
  readonly tenantId: string;
  readonly runId: string;
  readonly familySlug: string;
  readonly version: number;
  readonly status: RunStatus;
  /** Number of the last journal row; 0 before the first. */
  readonly seq: number;
  /** Time of the last row; never goes back. Microseconds since 1970. */
  readonly atUs: number;
  readonly startedAtUs: number;
  readonly closedAtUs: number | null;
  readonly input: Value;
  readonly attributes: Readonly<Record<string, string>>;
  /** Set when COMPLETED. */
  readonly output: ValueSource | null;
  /** Set when FAILED, and before that while a run that is failing waits for its open attempts to end. */
  readonly error: RunFailure | null;
  readonly cancel: { readonly reason: string; readonly requestedBy: string } | null;
  readonly parked: { readonly code: string; readonly message: string } | null;
  readonly steps: StepTable;
}
