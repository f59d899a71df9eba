/** Work in claim queues that nobody waits for any more. */
import type { Draft } from './draft.js';
import type { Entry } from './entries.js';

/** The item that an entry leaves behind, looked at before it is applied; undefined: none. */
export function claimLeft(draft: Draft, entry: Entry): string | undefined {
  return entry.kind === 'step_cancelled' ? draft.steps.get(entry.path)?.claim?.itemId : undefined;
}
