/** CEL values as plain JSON. */
import { DuctorError } from '../kernel/index.js';
import type { JsonValue } from './types.js';

/** A result of an expression as plain JSON. */
export function toJsonValue(_value: unknown): JsonValue {
  throw new DuctorError('unimplemented', 'expressions are not there yet');
}
