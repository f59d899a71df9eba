/** Work in queues that nobody waits for any more. */
import type { Draft } from './draft.js';
import type { Entry } from './entries.js';
import type { StepState } from './state.js';

/** What an entry leaves behind. */
export type LeftBehind = Pick<StepState, 'claim' | 'queued'>;

/** The work that an entry leaves behind, looked at before it is applied; undefined: none. */
export function leftBehind(draft: Draft, entry: Entry): LeftBehind | undefined {
  return entry.kind === 'step_cancelled' ? draft.steps.get(entry.path) : undefined;
}
