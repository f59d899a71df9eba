/** The journal of a run, page by page. */
import { prepared, type Queryable, type Row } from '../../store/index.js';
import type { RunKey, StoredRun } from '../coordinator/ports.js';

const HISTORY = prepared(
  'run_history',
  `select j.seq, j.at, j.entries from ductor.run_journal j
  where j.tenant_id = $1 and j.run_id = $2 and j.seq > $3 order by j.seq limit $4`,
);

/** See RunReader.history. */
export async function readHistory(
  db: Queryable,
  key: RunKey,
  afterSeq: number,
  limit: number,
): Promise<StoredRun['rows']> {
  const { rows } = await db.query<Row & { seq: number; at: number; entries: Buffer }>(HISTORY, [
    key.tenantId,
    key.runId,
    afterSeq,
    limit,
  ]);
  return rows.map((row) => ({ seq: row.seq, atUs: row.at, entries: row.entries }));
}
