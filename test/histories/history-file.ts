/**
 * Recorded histories: rows of a run's journal as an engine once wrote them, and the state they fold to. They are
 * replayed for ever: an engine that reads them otherwise has lost the runs its users have stored.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadRun, type JournalRow } from '../../engine/src/workflow/journal/index.js';
import { plainState } from '../../engine/src/workflow/testing/plain-state.js';

const FOLDER = new URL('../fixtures/histories/', import.meta.url);

/** A history as it stands in its file. */
export interface HistoryFile {
  /** What happened to the run, one sentence. */
  readonly about: string;
  readonly tenant_id: string;
  readonly run_id: string;
  readonly rows: readonly { readonly seq: number; readonly at_us: number; readonly entries: string }[];
  /** The state after the last row. */
  readonly state: unknown;
}

/** A run as it was recorded. */
export interface RecordedRun {
  readonly about: string;
  readonly tenantId: string;
  readonly runId: string;
  readonly rows: readonly JournalRow[];
}

/** The state these rows fold to, as plain JSON; without the estimate of its memory, which may change. */
export function foldedState(tenantId: string, runId: string, rows: readonly JournalRow[]): unknown {
  const loaded = loadRun({ tenantId, runId, snapshot: null, rows });
  if (loaded === null) return null;
  const { bytes: _estimate, ...state } = plainState(loaded);
  return JSON.parse(JSON.stringify(state));
}

/** Names of all recorded histories. */
export function historyNames(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .toSorted();
}

/** A recorded history. */
export function readHistory(name: string): HistoryFile {
  const file: HistoryFile = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'));
  return file;
}

/** The rows of a file as the journal holds them. */
export function rowsOf({ rows }: HistoryFile): readonly JournalRow[] {
  return rows.map(({ seq, at_us, entries }) => ({ seq, atUs: at_us, entries: Buffer.from(entries, 'base64') }));
}

/** Records a history. A name that is taken fails: what is recorded is never written again. Returns the path. */
export function writeHistory(name: string, { about, tenantId, runId, rows }: RecordedRun): string {
  const file: HistoryFile = {
    about,
    tenant_id: tenantId,
    run_id: runId,
    rows: rows.map(({ seq, atUs, entries }) => ({
      seq,
      at_us: atUs,
      entries: Buffer.from(entries).toString('base64'),
    })),
    state: foldedState(tenantId, runId, rows),
  };
  const path = fileURLToPath(new URL(`${name}.json`, FOLDER));
  writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`, { flag: 'wx' });
  return path;
}
