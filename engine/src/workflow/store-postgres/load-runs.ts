/** Reads runs as they are stored: header, newest snapshot, journal rows after it. */
import { DuctorError } from '../../kernel/index.js';
import { type Queryable, type Row, integerArray, prepared, uuidArray } from '../../store/index.js';
import type { RunHeader, RunKey, StoredRun } from '../coordinator/ports.js';
import { headerOf, HEADER_COLUMNS, type HeaderRow } from './header-row.js';

/** Which snapshots this engine can read; the others are passed over and the run is read from its first row. */
export type SnapshotCheck = (data: Uint8Array) => boolean;

/** A row of LOAD: part 0 is a header with its snapshot, part 1 a journal row. */
interface LoadedRow extends Row {
  readonly n: number;
  readonly part: 0 | 1;
  readonly seq: number | null;
  readonly at: number | null;
  readonly data: Buffer | null;
  readonly header: HeaderRow | null;
}

/** Rows of a run after a seq. `offset 0` keeps the planner from turning the look-up into a join of lists. */
const journalRows = (after: string): string => `cross join lateral (
    select j.seq, j.at, j.entries from ductor.run_journal j
    where j.tenant_id = k.tenant_id and j.run_id = k.run_id and j.seq > ${after} offset 0) j`;

/** One statement, so that header and rows are of one moment. */
const LOAD = prepared(
  'load_runs',
  `with k as materialized (
  select n, tenant_id, run_id from unnest($1::uuid[], $2::uuid[]) with ordinality as k (tenant_id, run_id, n)
), r as materialized (
  select k.n::int, k.tenant_id, k.run_id, s.seq, s.data, r.header
  from k cross join lateral (
    select ${HEADER_COLUMNS} as header from ductor.runs r
    where r.tenant_id = k.tenant_id and r.run_id = k.run_id offset 0) r
  left join lateral (
    select s.seq, s.data from ductor.run_snapshot s
    where s.tenant_id = k.tenant_id and s.run_id = k.run_id offset 0) s on true
)
select n, 0 as part, seq, null::bigint as at, data, header from r
union all
select k.n, 1, j.seq, j.at, j.entries, null from r as k ${journalRows('coalesce(k.seq, 0)')}`,
);

/** Journal rows from the first on, of runs whose snapshot is of no use. */
const LOAD_ROWS = prepared(
  'load_run_rows',
  `select k.n::int - 1 as n, j.seq, j.at, j.entries as data
  from unnest($1::uuid[], $2::uuid[], $3::int[]) with ordinality as k (tenant_id, run_id, after, n)
  ${journalRows('k.after')}`,
);

type StoredRow = StoredRun['rows'][number];

/** Throws internal when rows are missing: the journal of the run is damaged. */
function checkWithoutGap(runId: string, after: number, rows: readonly StoredRow[]): void {
  rows.forEach((row, i) => {
    if (row.seq !== after + 1 + i) {
      throw new DuctorError('internal', `the journal of run ${runId} has no row ${after + 1 + i} before ${row.seq}`);
    }
  });
}

/** Rows of the journal after `after`, per key, ascending. */
async function loadRows(
  db: Queryable,
  keys: readonly (RunKey & { readonly after: number })[],
): Promise<readonly (readonly StoredRow[])[]> {
  const result = await db.query<Row & { n: number; seq: number; at: number; data: Buffer }>(LOAD_ROWS, [
    uuidArray(keys.map((key) => key.tenantId)),
    uuidArray(keys.map((key) => key.runId)),
    integerArray(keys.map((key) => key.after)),
  ]);
  const found: StoredRow[][] = keys.map(() => []);
  for (const row of result.rows) found[row.n]?.push({ seq: row.seq, atUs: row.at, entries: row.data });
  return found.map((rows) => rows.sort((a, b) => a.seq - b.seq));
}

/** A run while its rows come in. */
interface Draft extends RunKey {
  readonly header: RunHeader;
  readonly snapshot: StoredRun['snapshot'];
  readonly rows: StoredRow[];
}

/** Puts the rows of LOAD together. */
function assemble(keys: readonly RunKey[], loaded: readonly LoadedRow[]): Draft[] {
  const drafts = new Map<number, Draft>();
  for (const row of loaded) {
    const key = keys[row.n - 1];
    if (row.part !== 0 || row.header === null || key === undefined) continue;
    const snapshot = row.seq === null || row.data === null ? null : { seq: row.seq, data: row.data };
    drafts.set(row.n, { ...key, header: headerOf(row.header), snapshot, rows: [] });
  }
  for (const row of loaded) {
    if (row.part !== 1 || row.seq === null || row.at === null || row.data === null) continue;
    drafts.get(row.n)?.rows.push({ seq: row.seq, atUs: row.at, entries: row.data });
  }
  for (const draft of drafts.values()) draft.rows.sort((a, b) => a.seq - b.seq);
  return [...drafts.values()];
}

/**
 * The runs that exist.
 *
 * @param isUsable which snapshots can be read
 *
 * Throws internal when a journal has a gap, database_unavailable.
 */
export async function loadRuns(
  db: Queryable,
  keys: readonly RunKey[],
  isUsable: SnapshotCheck,
): Promise<readonly StoredRun[]> {
  if (keys.length === 0) return [];
  const ids = [uuidArray(keys.map((key) => key.tenantId)), uuidArray(keys.map((key) => key.runId))];
  const drafts = assemble(keys, (await db.query<LoadedRow>(LOAD, ids)).rows);
  const useless = drafts.filter(({ snapshot }) => snapshot !== null && !isUsable(snapshot.data));
  const again =
    useless.length === 0
      ? []
      : await loadRows(
          db,
          useless.map((run) => ({ ...run, after: 0 })),
        );
  const whole = new Map(useless.map((run, i) => [run, again[i] ?? []]));
  return drafts.map((draft): StoredRun => {
    const rows = whole.get(draft);
    const run = rows === undefined ? draft : { ...draft, snapshot: null, rows };
    checkWithoutGap(run.runId, run.snapshot?.seq ?? 0, run.rows);
    return run;
  });
}
