/**
 * Runs that are tried because they may have ended an engine: named before, counted after. A name need not outlive a
 * crash of the database, so it does not wait for the disk.
 */
import { shardOf } from '../../kernel/index.js';
import { type Queryable, type Row, integerArray, prepared, uuidArray } from '../../store/index.js';
import type { RunKey } from '../coordinator/ports.js';
import { CRASHES_LEFT, CRASHES_WITHIN_MS, type CrashedRun } from '../coordinator/probe-ports.js';
import { PLAIN_LANE } from './commit-statement.js';

/** Counts are forgotten a day after the last crash. */
const KEPT_US = 86_400_000_000;

/** probing_run is set when one run is tried alone: it then ends its node by itself. */
const NAME = prepared(
  'name_probed',
  `update ductor.engine_node set probing_tenants = $2::uuid[], probing_runs = $3::uuid[], probing_run = $4::uuid
  where node_id = $1::uuid and lane = ${PLAIN_LANE} and not fenced
    and set_config('synchronous_commit', 'off', true) is not null`,
);

/** See ProbeStore.probe. */
export async function nameProbed(db: Queryable, nodeId: string, runs: readonly RunKey[]): Promise<boolean> {
  const [first] = runs;
  const { rowCount } = await db.query(NAME, [
    nodeId,
    runs.length === 0 ? null : uuidArray(runs.map(({ tenantId }) => tenantId)),
    runs.length === 0 ? null : uuidArray(runs.map(({ runId }) => runId)),
    runs.length === 1 ? (first?.runId ?? null) : null,
  ]);
  return rowCount > 0;
}

interface ProbedRow extends Row {
  readonly tenants: readonly string[];
  readonly runs: readonly string[];
  readonly is_alone: boolean;
}

/**
 * Counts what a dead node was trying, once: the names go with it. Part of a takeover, which holds the node's rows.
 * A run that was tried alone has one crash more; those that were tried together have one more, too, but never so many
 * that they are parked by it.
 */
export async function countCrashes(tx: Queryable, deadNodeId: string): Promise<void> {
  const { rows } = await tx.query<ProbedRow>(
    `select probing_tenants::text[] as tenants, probing_runs::text[] as runs, probing_run is not null as is_alone
      from ductor.engine_node where node_id = $1 and lane = ${PLAIN_LANE} and probing_runs is not null`,
    [deadNodeId],
  );
  const [probed] = rows;
  if (probed === undefined) return;
  await tx.query(
    `insert into ductor.run_crash as c (shard, tenant_id, run_id, crashes, crashed_at)
      select shard, tenant_id, run_id, 1, ductor.now_us()
        from unnest($1::smallint[], $2::uuid[], $3::uuid[]) as p (shard, tenant_id, run_id)
      on conflict (shard, tenant_id, run_id) do update set crashed_at = excluded.crashed_at, crashes = case
        when c.crashed_at < excluded.crashed_at - ${CRASHES_WITHIN_MS} * 1000::bigint then 1
        when $4 then c.crashes + 1 else greatest(c.crashes, least(c.crashes + 1, ${CRASHES_LEFT})) end`,
    [integerArray(probed.runs.map(shardOf)), uuidArray(probed.tenants), uuidArray(probed.runs), probed.is_alone],
  );
  await tx.query(
    `update ductor.engine_node set probing_tenants = null, probing_runs = null, probing_run = null where node_id = $1`,
    [deadNodeId],
  );
  await tx.query('delete from ductor.run_crash where crashed_at < ductor.now_us() - $1', [KEPT_US]);
}

/** See ProbeStore.crashes. */
export async function readCrashes(db: Queryable, shards: readonly number[]): Promise<readonly CrashedRun[]> {
  const { rows } = await db.query<Row & { tenant_id: string; run_id: string; crashes: number; ago_ms: number }>(
    `select tenant_id, run_id, crashes, ((ductor.now_us() - crashed_at) / 1000)::float8 as ago_ms from ductor.run_crash
      where shard = any($1::smallint[]) and crashed_at > ductor.now_us() - ${CRASHES_WITHIN_MS} * 1000::bigint`,
    [integerArray(shards)],
  );
  return rows.map((row) => ({
    ...{ tenantId: row.tenant_id, runId: row.run_id },
    ...{ crashes: row.crashes, agoMs: row.ago_ms },
  }));
}

/** See ProbeStore.quarantined. */
export async function lowerCrashes(db: Queryable, { tenantId, runId }: RunKey): Promise<void> {
  await db.query(
    `update ductor.run_crash set crashes = least(crashes, ${CRASHES_LEFT})
      where shard = $1 and tenant_id = $2 and run_id = $3`,
    [shardOf(runId), tenantId, runId],
  );
}
