/** Small judgements of the worker. */
import type { Task } from '../gen/ductor/v1/bridge.js';
import { DuctorError } from '../errors.js';

/** Slots that a task takes; an older engine does not say. */
export function slotsOf({ slots }: Task): number {
  return Math.max(1, slots);
}

/** Errors that another try would only repeat: a key that is unknown or lacks the scope. */
export function isFatal(error: Error): boolean {
  const code: unknown = 'code' in error ? error.code : undefined;
  return code === 16 || code === 7;
}

/** A capacity that works. Throws DuctorError invalid_argument. */
export function checkedCapacity(capacity: number): number {
  if (Number.isInteger(capacity) && capacity >= 1 && capacity <= 10_000) return capacity;
  throw new DuctorError('invalid_argument', `capacity is ${capacity}, it must be a whole number from 1 to 10,000`, {
    remedy: 'leave it out for 100',
  });
}
