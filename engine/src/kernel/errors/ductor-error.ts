/** The one class of error the engine throws; its code comes from the closed catalogue. */
import { ERROR_CATALOGUE, type ErrorCode } from './catalogue.js';
import type { ErrorKind } from './error-kind.js';

/** One thing that is wrong, as every door reports it. */
export interface Problem {
  /** Where, as a path into the request or definition: `steps[3].args.duration`. Empty when it concerns the whole. */
  readonly path: string;
  /** What was found there, shortened to 200 characters. */
  readonly value: string;
  /** What is wrong with it. */
  readonly problem: string;
  /** What to do instead. */
  readonly remedy: string;
}

/** Optional parts of a DuctorError. */
export interface DuctorErrorOptions {
  /** Everything that is wrong, when it is more than the message says. */
  readonly details?: readonly Problem[];
  /** What to do; default: the catalogue's remedy. */
  readonly remedy?: string;
  /** Earliest sensible retry, in ms from now. */
  readonly retryAfterMs?: number;
  /** What was caught; kept for logs, never sent to a caller. */
  readonly cause?: unknown;
}

/** A failure with a code from the catalogue. Code, message, details and remedy cross to the caller; never its cause. */
export class DuctorError extends Error {
  override readonly name = 'DuctorError';
  readonly code: ErrorCode;
  readonly details: readonly Problem[];
  readonly remedy: string;
  readonly retryAfterMs: number | undefined;

  /**
   * @param code one of ERROR_CATALOGUE
   * @param message names the field, the value seen and what is wrong
   */
  constructor(code: ErrorCode, message: string, options: DuctorErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? [];
    this.remedy = options.remedy ?? ERROR_CATALOGUE[code].remedy;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** What the catalogue says of this code. */
  get kind(): ErrorKind {
    return ERROR_CATALOGUE[this.code];
  }

  /** Any caught thing as a DuctorError; what is not one becomes `internal` with the cause kept. */
  static from(caught: unknown): DuctorError {
    if (caught instanceof DuctorError) return caught;
    const message = caught instanceof Error ? caught.message : String(caught);
    return new DuctorError('internal', message, { cause: caught });
  }
}

/** A state that cannot be, with a tag one search finds. Throws `internal`. */
export function impossible(tag: string, what: string): never {
  throw new DuctorError('internal', `impossible state [${tag}]: ${what}`);
}
