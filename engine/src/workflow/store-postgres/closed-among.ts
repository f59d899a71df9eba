/** Which of some runs are closed. */
import { type Queryable, type Row, prepared, uuidArray } from '../../store/index.js';
import type { RunKey } from '../coordinator/ports.js';

const CLOSED_AMONG = prepared(
  'closed_among',
  `select k.n::int - 1 as n from unnest($1::uuid[], $2::uuid[]) with ordinality as k (tenant_id, run_id, n)
  cross join lateral (
    select 1 from ductor.runs r
    where r.tenant_id = k.tenant_id and r.run_id = k.run_id and r.closed_at is not null offset 0) r`,
);

/** See RunReader.closedAmong. */
export async function closedAmong(db: Queryable, keys: readonly RunKey[]): Promise<readonly RunKey[]> {
  const { rows } = await db.query<Row & { n: number }>(CLOSED_AMONG, [
    uuidArray(keys.map((key) => key.tenantId)),
    uuidArray(keys.map((key) => key.runId)),
  ]);
  return rows.flatMap((row) => keys[row.n] ?? []);
}
