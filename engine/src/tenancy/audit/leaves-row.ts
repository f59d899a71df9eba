/** Which refusals are noted. */
import type { DuctorError } from '../../kernel/index.js';

/**
 * Whether a call that came to nothing leaves a row in the audit trail: not when it said nothing sensible, and not when
 * the caller was only told to come again later. A flood of those would be written by the very database whose want of
 * time they were refused for.
 */
export function leavesRow({ kind, retryAfterMs }: DuctorError): boolean {
  return kind.grpc !== 'INVALID_ARGUMENT' && retryAfterMs === undefined;
}
