/** Errors of the SDK: those it throws at its caller, and those a step body throws to say how its failure is treated. */
import type { FailureView } from './client/run-view.js';
import { thrownError } from './client/thrown-error.js';

/** One thing that is wrong with a request, as the engine reports it. */
export interface Problem {
  /** Where: `steps[3].args.duration`. */
  readonly path: string;
  /** What was found there, shortened. */
  readonly value: string;
  readonly problem: string;
  readonly remedy: string;
}

/** What a DuctorError carries beside code and message. */
export interface DuctorErrorParts {
  readonly details?: readonly Problem[];
  readonly retryable?: boolean;
  readonly remedy?: string;
  /** Earliest sensible retry, ms from now. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A call was refused or failed. `code` comes from the engine's catalogue (docs/errors.md). */
export class DuctorError extends Error {
  override readonly name = 'DuctorError';
  readonly code: string;
  readonly details: readonly Problem[];
  readonly retryable: boolean;
  readonly remedy: string;
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, parts: DuctorErrorParts = {}) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = code;
    this.details = parts.details ?? [];
    this.retryable = parts.retryable ?? false;
    this.remedy = parts.remedy ?? '';
    this.retryAfterMs = parts.retryAfterMs;
  }
}

/** A run ended without an output; `result()` throws it. */
export class RunFailedError extends DuctorError {
  readonly runId: string;
  /** FAILED, CANCELLED, TERMINATED or TIMED_OUT. */
  readonly state: string;
  /** Path of the step that failed; empty when the run itself did. */
  readonly step: string;
  /** The error that the body of the step threw, with its causes; undefined when none threw. */
  declare readonly cause: Error | undefined;

  constructor(run: {
    readonly runId: string;
    readonly state: string;
    readonly code: string;
    readonly message: string;
    readonly step: string;
    /** What the engine kept of its error. */
    readonly failure?: FailureView | undefined;
  }) {
    const { failure } = run;
    super(
      run.code,
      `run ${run.runId} ended ${run.state}${run.step === '' ? '' : ` at step ${run.step}`}: ${run.message}`,
      failure === undefined || failure.stack === '' ? {} : { cause: thrownError(failure) },
    );
    this.runId = run.runId;
    this.state = run.state;
    this.step = run.step;
  }
}

/**
 * Thrown by a step body: another attempt is useless, the step fails now. The name of `cause` is the failure's code
 * when it is given.
 */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError';
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
  }
}

/** Thrown by a step body: try again, but not before so many ms. */
export class RetryAfterError extends Error {
  override readonly name = 'RetryAfterError';
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs: number, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}
