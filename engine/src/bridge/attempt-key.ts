import type { AttemptRef } from './ports.js';

/** One text for an attempt, to look it up by. Ids have a fixed length, so it is unique whatever the path holds. */
export function attemptKey({ tenantId, runId, path, attempt }: AttemptRef): string {
  return `${tenantId}${runId}${attempt}/${path}`;
}
