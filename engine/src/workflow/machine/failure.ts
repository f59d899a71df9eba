/** Failures as the journal keeps them. */
import { DuctorError } from '../../kernel/index.js';
import type { RunFailure } from './state.js';
import type { Value } from './value.js';

/** Hard limit of one value, in bytes. */
export const MAX_VALUE_BYTES = 2 * 1024 * 1024;

/** A result, or the failure that took its place. */
export type Tried<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: DuctorError };

/**
 * Runs code of the plan. A DuctorError is a failure of the workflow and comes back; anything else, and `internal`, is a
 * fault of ours and propagates: the shell parks the run, so that a repaired engine can resume it.
 */
export function tryPlan<T>(evaluate: () => T): Tried<T> {
  try {
    return { ok: true, value: evaluate() };
  } catch (caught) {
    if (caught instanceof DuctorError && caught.code !== 'internal') return { ok: false, error: caught };
    throw caught;
  }
}

/** Throws value_too_large, naming the value and its size, beyond the hard limit. */
export function checkSize(value: Value, what: string): Value {
  const bytes = value.data.byteLength;
  if (bytes <= MAX_VALUE_BYTES) return value;
  throw new DuctorError('value_too_large', `${what} has ${bytes} bytes; the limit is ${MAX_VALUE_BYTES}`);
}

/** A failure of the coordinator's own work: an expression, a limit. Trying again cannot help. */
export function ownFailure(step: string, error: DuctorError, prefix = ''): RunFailure {
  return { code: error.code, message: `${prefix}${error.message}`, step, attempt: 0, retryable: false, stack: '' };
}

/** Bytes that a failure takes in memory, about. */
export function failureBytes({ message, stack, causes = [] }: RunFailure): number {
  const behind = causes.reduce((sum, cause) => sum + 100 + 2 * (cause.message.length + cause.stack.length), 0);
  return 200 + 2 * (message.length + stack.length) + behind;
}
