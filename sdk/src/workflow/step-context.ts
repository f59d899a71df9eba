/** What a step body is given beside its input. */
import type { StepOutput } from './jsonify.js';

/** Writes lines about a run; fields are added to run, step and attempt. */
export interface StepLogger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Context of one attempt of a step. */
export interface StepContext {
  /** Aborts when the run is cancelled, the attempt timed out or the worker must stop. Pass it to fetch and friends. */
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly workflow: string;
  readonly version: number;
  /** Address of the step in its definition. */
  readonly path: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same for all attempts of this step in this run: hand it to services that deduplicate. */
  readonly idempotencyKey: string;
  /** When this attempt must have ended, by this machine's clock. */
  readonly deadline: Date;
  readonly log: StepLogger;
  /**
   * Says that the body still lives, and how far it has come: the next attempt receives the last progress when this one
   * fails. Sent now and then, however often it is called. Throws DuctorError value_too_large beyond 64 KiB of JSON.
   */
  heartbeat(progress?: unknown): void;
  /**
   * Does a part of the work once: its output is kept, durably before this resolves, and a later attempt of the step
   * gets it back instead of doing the work again, on whichever worker. Work that throws, or whose worker dies before
   * the output is kept, is done again. What comes back has travelled: a Buffer is a Uint8Array, no value is null.
   *
   * @param name unique in the step, 1 to 128 characters, and the same in each attempt
   * @param work what to do; it may use everything of this context but `run`
   * Throws NonRetryableError for a name that is used twice, DuctorError value_not_json, value_too_large (1 MiB for all
   * sub-steps of a step together), limit_exceeded (more than 1,000 of them), and whatever the work throws.
   */
  run<T>(name: string, work: () => T | Promise<T>): Promise<StepOutput<T>>;
  /** What an earlier attempt of this step reported last; undefined when none did. */
  readonly lastProgress: unknown;
}

/**
 * A step body: an ordinary async function. Whatever it throws is a failed attempt; see NonRetryableError and
 * RetryAfterError.
 */
export type StepBody<In, Out> = (input: In, context: StepContext) => Out | Promise<Out>;
