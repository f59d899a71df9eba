/** Runs that a takeover loads at once. */
import { type Queryable, type Row, integerArray, prepared } from '../../store/index.js';
import type { RunKey } from '../coordinator/ports.js';

/** Before the first run id. */
const LOWEST = '00000000-0000-0000-0000-000000000000';

/** A short index scan per shard, then the first of all: a page costs the same whatever was listed before. */
const LIST_ACTIVE = prepared(
  'list_active',
  `select a.tenant_id, a.run_id from unnest($1::smallint[]) as s (shard)
  cross join lateral (
    select r.tenant_id, r.run_id from ductor.runs r
    where r.shard = s.shard and r.active and r.run_id > $2::uuid order by r.run_id limit $3) a
  order by a.run_id limit $3`,
);

/** See RunStore.listActive; an empty `afterRunId` begins at the first. */
export async function listActive(
  db: Queryable,
  shards: readonly number[],
  afterRunId: string,
  limit: number,
): Promise<readonly RunKey[]> {
  const after = afterRunId === '' ? LOWEST : afterRunId;
  const { rows } = await db.query<Row & { tenant_id: string; run_id: string }>(LIST_ACTIVE, [
    integerArray(shards),
    after,
    limit,
  ]);
  return rows.map((row) => ({ tenantId: row.tenant_id, runId: row.run_id }));
}
