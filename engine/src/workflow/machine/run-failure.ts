/** How runs and steps fail. */

/** An error behind a failure: what caused it, or a member of an AggregateError. */
export interface ErrorCause {
  readonly name: string;
  readonly message: string;
  /** Empty: it had none, or there was no room. */
  readonly stack: string;
  /** Whose it is: 0 the failure's own, else the place of that error in the list, from 1. */
  readonly of: number;
  readonly isMember: boolean;
}

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
  /** What is behind it, flat, an error before its own causes. Absent: nothing is known. */
  readonly causes?: readonly ErrorCause[];
}
