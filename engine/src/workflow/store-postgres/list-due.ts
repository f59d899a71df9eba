/** Runs whose time comes. */
import { type Queryable, type Row, integerArray, prepared } from '../../store/index.js';
import type { RunKey } from '../coordinator/ports.js';

const LIST_DUE = prepared(
  'list_due',
  `select a.tenant_id, a.run_id, a.wake_at from unnest($1::smallint[]) as s (shard)
  cross join lateral (
    select r.tenant_id, r.run_id, r.wake_at from ductor.runs r
    where r.shard = s.shard and not r.active and r.wake_at is not null and r.wake_at <= $2
    order by r.wake_at limit $3) a
  order by a.wake_at, a.run_id limit $3`,
);

/** See RunStore.listDue. */
export async function listDue(
  db: Queryable,
  shards: readonly number[],
  horizonUs: number,
  limit: number,
): Promise<readonly (RunKey & { readonly wakeAtUs: number })[]> {
  const { rows } = await db.query<Row & { tenant_id: string; run_id: string; wake_at: number }>(LIST_DUE, [
    integerArray(shards),
    horizonUs,
    limit,
  ]);
  return rows.map((row) => ({ tenantId: row.tenant_id, runId: row.run_id, wakeAtUs: row.wake_at }));
}
