/** Turns how a step body ended into the outcome that goes to the engine. */
import type { TaskError, TaskResult } from '../gen/ductor/v1/bridge.js';
import type { ValueCoder } from '../values/payload-codec.js';
import { DuctorError, NonRetryableError, RetryAfterError } from '../errors.js';
import { errorCauses } from './error-causes.js';

/** Outcome part of a TaskResult. */
export type Outcome = NonNullable<TaskResult['outcome']>;

const STACK_CHARS_MAX = 8_192;
const MESSAGE_CHARS_MAX = 4_096;

/** What a body returned. A value that cannot be sent is a failure that another attempt would only repeat. */
export function outcomeOfValue(values: ValueCoder, value: unknown, path: string): Outcome {
  try {
    return { $case: 'output', value: values.toPayload(value, `output of step ${path}`) };
  } catch (error) {
    return outcomeOfError(error, undefined);
  }
}

/**
 * What a body threw.
 *
 * @param told why the body had been told to stop; undefined: it had not
 */
export function outcomeOfError(thrown: unknown, told: string | undefined): Outcome {
  if (told === 'cancelled') return { $case: 'cancelled', value: {} };
  const error = taskError(thrown);
  if (told !== 'timed_out') return { $case: 'error', value: error };
  // Whatever it threw, it threw because its time was over: the engine must know this failure as a timeout.
  const message = `the attempt did not end within its timeout (${error.code}: ${error.message})`;
  const timeout = { code: 'timeout', message: message.slice(0, MESSAGE_CHARS_MAX), nonRetryable: false };
  return { $case: 'error', value: { ...error, ...timeout, retryAfterMs: 0 } };
}

function taskError(thrown: unknown): TaskError {
  const error = thrown instanceof Error ? thrown : undefined;
  const named = error instanceof NonRetryableError && error.cause instanceof Error ? error.cause : error;
  return {
    code: error instanceof DuctorError ? error.code : (named?.name ?? 'Error'),
    message: (error === undefined ? String(thrown) : error.message).slice(0, MESSAGE_CHARS_MAX),
    stack: (error?.stack ?? '').slice(0, STACK_CHARS_MAX),
    causes: errorCauses(error),
    nonRetryable: error instanceof NonRetryableError || (error instanceof DuctorError && !error.retryable),
    retryAfterMs: error instanceof RetryAfterError ? Math.max(0, Math.round(error.retryAfterMs)) : 0,
  };
}
