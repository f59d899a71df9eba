/** A run from what is stored of it. */
import { emptyRun, fold, type PayloadRef, type RunState } from '../machine/index.js';
import { entriesOf, openEntries } from './entries-codec.js';
import type { JournalRow } from './history.js';
import { payloadShelf, putBack, type PayloadShelf } from './payloads.js';
import { openSnapshot, snapshotState } from './snapshot-codec.js';

/** A run as stored: a snapshot, if any, and the rows after it without a gap. */
export interface StoredJournal {
  readonly tenantId: string;
  readonly runId: string;
  readonly snapshot: { readonly seq: number; readonly data: Uint8Array } | null;
  readonly rows: readonly JournalRow[];
}

/** A stored run of which its values are not yet looked at. */
export interface OpenRun {
  /** Payloads it refers to, by digest in hex. */
  readonly refs: ReadonlyMap<string, PayloadRef>;
  /**
   * Its state; null when its snapshot is unreadable and the rows before it are needed. Throws internal for rows this
   * engine cannot read or fold.
   *
   * @param shelf payloads of the run, noting those it has not; default: values that stand there are absent
   */
  readonly state: (shelf?: PayloadShelf) => RunState | null;
}

/**
 * Opens a stored run: what it refers to is known before it is folded, for folding may look into values.
 * Throws internal for rows this engine cannot read.
 */
export function openRun(stored: StoredJournal): OpenRun {
  const { tenantId, runId } = stored;
  const snapshot = stored.snapshot === null ? undefined : openSnapshot(stored.snapshot.data);
  const rows = stored.rows.map((row) => ({ stamp: row, row: openEntries(row.entries) }));
  const shelf = payloadShelf(runId);
  if (snapshot?.hasPayloads) putBack(snapshot, shelf);
  for (const { row } of rows) if (row.hasPayloads) putBack(row.entries, shelf);
  return {
    refs: shelf.missing,
    state(loaded) {
      if (snapshot === null) return null;
      const base =
        snapshot === undefined
          ? emptyRun({ tenantId, runId })
          : snapshotState({ tenantId, runId, seq: stored.snapshot?.seq ?? 0 }, snapshot, loaded);
      if (base === null) return null;
      return rows.reduce((state, { row, stamp }) => fold(state, entriesOf(row, loaded), stamp), base);
    },
  };
}

/** The state of a stored run in one step, see OpenRun. Throws what openRun and its state throw. */
export function loadRun(stored: StoredJournal, shelf?: PayloadShelf): RunState | null {
  return openRun(stored).state(shelf);
}
