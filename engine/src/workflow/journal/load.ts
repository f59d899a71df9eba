/** A run from what is stored of it. */
import { emptyRun, fold, type RunState } from '../machine/index.js';
import { decodeEntries } from './entries-codec.js';
import type { JournalRow } from './history.js';
import type { PayloadShelf } from './payloads.js';
import { decodeSnapshot } from './snapshot-codec.js';

/** A run as stored: a snapshot, if any, and the rows after it without a gap. */
export interface StoredJournal {
  readonly tenantId: string;
  readonly runId: string;
  readonly snapshot: { readonly seq: number; readonly data: Uint8Array } | null;
  readonly rows: readonly JournalRow[];
}

/**
 * The state of a stored run; null when its snapshot is unreadable and the rows before it are needed.
 * Throws internal for rows this engine cannot read or fold.
 *
 * @param shelf payloads of the run, noting those it has not; default: values that stand there are absent
 */
export function loadRun(stored: StoredJournal, shelf?: PayloadShelf): RunState | null {
  const { tenantId, runId, snapshot } = stored;
  const base =
    snapshot === null
      ? emptyRun({ tenantId, runId })
      : decodeSnapshot({ tenantId, runId, seq: snapshot.seq }, snapshot.data, shelf);
  if (base === null) return null;
  return stored.rows.reduce((state, row) => fold(state, decodeEntries(row.entries, shelf), row), base);
}
