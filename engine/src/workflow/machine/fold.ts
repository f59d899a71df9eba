/** State is the fold of the journal. */
import { impossible } from '../../kernel/index.js';
import { applyEntry } from './apply-entry.js';
import { finishDraft, openDraft } from './draft.js';
import type { Entry } from './entries.js';
import type { RunState } from './state.js';

/** Number and time of a journal row. */
export interface RowStamp {
  readonly seq: number;
  /** Microseconds since 1970. */
  readonly atUs: number;
}

/**
 * The state after one more row of the journal. Never changes `state`; costs as much as the entries touch.
 * Throws internal when the row does not follow, or an entry is not in the table of transitions (M3).
 */
export function fold(state: RunState, entries: readonly Entry[], row: RowStamp): RunState {
  if (row.seq !== state.seq + 1) impossible('journal-gap', `row ${row.seq} after ${state.seq} of run ${state.runId}`);
  const draft = openDraft(state, row.atUs);
  for (const entry of entries) applyEntry(draft, entry);
  return finishDraft(draft, row.seq);
}
