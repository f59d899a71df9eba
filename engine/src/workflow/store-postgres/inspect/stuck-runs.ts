/** Runs that do not go on although they should, and those that wait for people. Reads only. */
import type { Queryable, Row, TenantAccess } from '../../../store/index.js';
import type { RunKey } from '../../coordinator/ports.js';
import { isSnapshotReadable, loadRun } from '../../journal/index.js';
import { statusCode } from '../run-status-code.js';
import { postgresRunReader } from '../postgres-run-reader.js';

/** Runs of one kind. */
export interface RunCount {
  /** Counted up to MAX_COUNTED. */
  readonly count: number;
  /** Ids of some of them. */
  readonly examples: readonly string[];
}

/** What was found. */
export interface StuckRuns {
  /** Active runs in shards that no live node owns. */
  readonly ownerless: RunCount;
  /** Waiting runs whose time came long ago, although a live node owns their shard. */
  readonly overdue: RunCount & { readonly latestMs: number };
  /** Parked runs by code, most frequent first. */
  readonly parked: readonly (RunCount & { readonly code: string })[];
  /** There are more parked runs than were looked at. */
  readonly areMoreParked: boolean;
}

/** A run this long past its time is stuck: timers fire within milliseconds. */
const OVERDUE_MS = 60_000;
/** Runs counted of one kind. */
const MAX_COUNTED = 10_000;
/** Parked runs whose reasons are read. */
const MAX_PARKED = 1_000;
const EXAMPLES = 3;
const LOAD_PAGE = 100;

interface CountRow extends Row {
  readonly count: number;
  readonly examples: readonly string[] | null;
  readonly latest_ms: number | null;
}

const ACTIVE = `select count(*)::int as count, (array_agg(r.run_id::text))[1:${EXAMPLES}] as examples, null as latest_ms
  from (select run_id from ductor.runs r where r.active and r.shard = any($1::smallint[]) limit ${MAX_COUNTED}) r`;

const OVERDUE = `select count(*)::int as count,
    (array_agg(r.run_id::text order by r.wake_at))[1:${EXAMPLES}] as examples,
    ((ductor.now_us() - min(r.wake_at)) / 1000)::float8 as latest_ms
  from (
    select run_id, wake_at from ductor.runs r
    where not r.active and r.wake_at is not null and r.shard <> all($1::smallint[])
      and r.wake_at < ductor.now_us() - ${OVERDUE_MS} * 1000::bigint limit ${MAX_COUNTED}) r`;

/** No index leads to parked runs: there are few, and this is asked by people only. */
const PARKED = `select tenant_id::text, run_id::text from ductor.runs
  where status = $1::smallint limit ${MAX_PARKED + 1}`;

function countOf(row: CountRow | undefined): RunCount {
  return { count: row?.count ?? 0, examples: row?.examples ?? [] };
}

/** The codes of parked runs; one that cannot be read any more counts as unreadable. */
async function parkedByCode(db: TenantAccess, keys: readonly RunKey[]): Promise<StuckRuns['parked']> {
  const reader = postgresRunReader(db, isSnapshotReadable);
  const byCode = new Map<string, string[]>();
  for (let at = 0; at < keys.length; at += LOAD_PAGE) {
    for (const stored of await reader.getMany(keys.slice(at, at + LOAD_PAGE))) {
      const code = loadRun(stored)?.parked?.code ?? 'unreadable';
      byCode.set(code, [...(byCode.get(code) ?? []), stored.runId]);
    }
  }
  return [...byCode]
    .map(([code, ids]) => ({ code, count: ids.length, examples: ids.slice(0, EXAMPLES) }))
    .sort((a, b) => b.count - a.count);
}

/**
 * Looks for them.
 *
 * @param ownerlessShards shards without a live owner
 */
export async function readStuckRuns(
  db: Queryable & TenantAccess,
  ownerlessShards: readonly number[],
): Promise<StuckRuns> {
  const active = await db.query<CountRow>(ACTIVE, [ownerlessShards]);
  const overdue = await db.query<CountRow>(OVERDUE, [ownerlessShards]);
  const parked = await db.query<Row & { tenant_id: string; run_id: string }>(PARKED, [statusCode('PARKED')]);
  const keys = parked.rows.slice(0, MAX_PARKED).map((row) => ({ tenantId: row.tenant_id, runId: row.run_id }));
  return {
    ownerless: countOf(active.rows[0]),
    overdue: { ...countOf(overdue.rows[0]), latestMs: overdue.rows[0]?.latest_ms ?? 0 },
    parked: await parkedByCode(db, keys),
    areMoreParked: parked.rows.length > MAX_PARKED,
  };
}
