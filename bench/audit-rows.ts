/**
 * What the audit row of a start costs: `npx tsx bench/audit-rows.ts [connection string of a server]`. Batches of
 * starts, in turns with and without the deed that stands behind them, through the run store alone: the worst case, as
 * every tick is a start. Makes a database of its own and drops it.
 */
import pg from 'pg';
import { systemClock, systemRandom, uuidV7 } from '../engine/src/kernel/index.js';
import { migrate, openDatabase, type Database } from '../engine/src/store/index.js';
import type { Deed } from '../engine/src/tenancy/index.js';
import type { TickWrite } from '../engine/src/workflow/coordinator/ports.js';
import { postgresClusterStore, postgresRunStore } from '../engine/src/workflow/store-postgres/index.js';

const SERVER = process.argv[2] ?? 'postgresql://postgres@127.0.0.1:5432/postgres';
const NAME = `bench_audit_rows_${process.pid}`;
const BATCHES = 400;
const clock = systemClock();
const random = systemRandom();
const tenantId = uuidV7(clock.nowUs(), random);
const DEED: Deed = {
  actorId: uuidV7(clock.nowUs(), random),
  actor: 'production app',
  method: '/ductor.v1.RunService/TriggerRun',
  reason: '',
};

function start(by: Deed | null): TickWrite {
  const shard = random.uint32() & 0xff;
  const atUs = clock.nowUs();
  const runId = uuidV7(atUs, random, shard);
  const header = {
    ...{ tenantId, runId, shard, familySlug: 'flow', version: 1, status: 'RUNNING' as const, active: true },
    ...{
      wakeAtUs: null,
      startedAtUs: atUs,
      closedAtUs: null,
      attributes: {},
      rootId: null,
      parentId: null,
      chain: null,
    },
  };
  const entries = Buffer.alloc(75, 'x');
  return { tenantId, runId, seq: 1, atUs, entries, header, snapshot: null, startKey: null, consumed: [], by };
}

async function number(db: Database, sql: string): Promise<number> {
  return Number((await db.query<{ n: unknown }>(`select (${sql})::float8 as n`)).rows[0]?.n);
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

async function bench(db: Database, batchSize: number): Promise<void> {
  const nodeId = uuidV7(clock.nowUs(), random);
  const cluster = postgresClusterStore({ db, clock });
  const store = postgresRunStore({ db, clock });
  await cluster.register({ nodeId, address: 'bench', leaseMs: 600_000 });
  const took = { with: [] as number[], without: [] as number[] };
  const wal = { with: 0, without: 0 };
  for (let batch = 0; batch < BATCHES; batch += 1) {
    for (const kind of ['without', 'with'] as const) {
      const ticks = Array.from({ length: batchSize }, () => start(kind === 'with' ? DEED : null));
      const before = await number(db, "select pg_current_wal_insert_lsn() - '0/0'");
      const beganMs = clock.monotonicMs();
      const outcome = await store.commit(nodeId, ticks);
      if (batch >= BATCHES / 10) took[kind].push(clock.monotonicMs() - beganMs);
      wal[kind] += (await number(db, "select pg_current_wal_insert_lsn() - '0/0'")) - before;
      if (outcome.kind !== 'committed') console.log('!!', outcome);
    }
  }
  const runs = BATCHES * batchSize;
  for (const kind of ['without', 'with'] as const) {
    const [p50, all] = [median(took[kind]), mean(took[kind])];
    console.log(
      `batch ${batchSize} ${kind.padEnd(7)} commit p50 ${p50.toFixed(2)} ms, mean ${all.toFixed(2)} ms, ` +
        `${((p50 * 1000) / batchSize).toFixed(1)} us a start, WAL ${Math.round(wal[kind] / runs)} B a start`,
    );
  }
  await cluster.leave(nodeId);
  await Promise.all([cluster.close(), store.close()]);
}

async function main(): Promise<void> {
  const url = new URL(SERVER);
  url.pathname = `/${NAME}`;
  await migrate({ url: url.toString() });
  const db = openDatabase({ url: url.toString() });
  for (const size of [1, 16, 64, 256]) await bench(db, size);
  await db.query('vacuum ductor.audit');
  const bytes = await number(db, "pg_total_relation_size('ductor.audit')");
  const rows = await number(db, 'select count(*) from ductor.audit');
  console.log(`${Math.round(bytes / rows)} bytes a row of the trail, index included (${rows} rows)`);
  await db.close();
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: SERVER });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

await onServer(`create database ${NAME}`);
try {
  await main();
} finally {
  await onServer(`drop database ${NAME} with (force)`);
}
