/**
 * What the run store reaches: `DATABASE_URL=… npx tsx bench/run-store.ts`. Without DATABASE_URL it starts the embedded
 * PostgreSQL. It makes databases of its own and drops them.
 *
 * The load is W1: runs of three callback steps with small values, so four ticks and one header a run. Ticks are made
 * by the real machine and encoded before the clock starts; measured is commit() alone, one batch after the other on
 * one lane. A batch is a steady mix: a quarter of its ticks starts runs, a quarter closes some. Beside each line stands
 * what 16 sessions reach in the same minute with one row a commit: carry the ratio to other machines, not the figures.
 */
import { systemClock, systemRandom, uuidV7, type Clock } from '../engine/src/kernel/index.js';
import { openDatabase, prepared, type Database } from '../engine/src/store/index.js';
import { dropRunDatabases } from '../engine/src/store/testing/drop-run-databases.js';
import { createTestDatabase } from '../engine/src/store/testing/index.js';
import { testServer } from '../engine/src/store/testing/test-server.js';
import type { RunHeader, TickWrite } from '../engine/src/workflow/coordinator/ports.js';
import { encodeEntries } from '../engine/src/workflow/journal/index.js';
import {
  advance,
  emptyRun,
  isActive,
  jsonValue,
  wakeAtUs,
  type RunInput,
  type RunState,
} from '../engine/src/workflow/machine/index.js';
import { postgresClusterStore, postgresRunStore } from '../engine/src/workflow/store-postgres/index.js';
import { sequence } from '../engine/src/workflow/testing/plan-builder.js';

const PLAN = sequence('enrich', 'score', 'notify');
const VALUE = jsonValue({ ok: true, score: 17 });
const clock = systemClock();
const random = systemRandom();
const tenantId = uuidV7(clock.nowUs(), random);

const INPUTS: readonly RunInput[] = [
  { kind: 'start', input: jsonValue({ leadId: 'lead-000001', source: 'web' }), attributes: {} },
  ...['enrich', 'score', 'notify'].map((path): RunInput => ({
    kind: 'result',
    path,
    attempt: 1,
    outcome: { kind: 'completed', output: VALUE },
  })),
];

/** The header of a state. */
function headerOf(state: RunState): RunHeader {
  const { runId, familySlug, version, status, startedAtUs, closedAtUs, attributes } = state;
  const shard = Number.parseInt(runId.slice(34), 16);
  const active = isActive(state);
  return {
    tenantId,
    runId,
    shard,
    familySlug,
    version,
    status,
    active,
    wakeAtUs: wakeAtUs(state),
    startedAtUs,
    closedAtUs,
    attributes,
    rootId: null,
    parentId: null,
    chain: null,
  };
}

/** The four ticks of a run, with headers where one is written. */
function ticksOf(at: Clock): readonly TickWrite[] {
  const runId = uuidV7(at.nowUs(), random, random.uint32() & 0xff);
  let state = emptyRun({ tenantId, runId });
  return INPUTS.map((input, i): TickWrite => {
    const nowUs = at.nowUs();
    const result = advance(PLAN, state, [input], { nowUs, seed: 1, newId: () => runId });
    state = result.state;
    const hasHeader = i === 0 || i === INPUTS.length - 1;
    return {
      tenantId,
      runId,
      seq: i + 1,
      atUs: nowUs,
      entries: encodeEntries(result.entries),
      header: hasHeader ? headerOf(state) : null,
      snapshot: null,
      startKey: null,
      consumed: [],
    };
  });
}

/** Batches in which runs of all ages stand side by side. */
function batchesOf(runs: number, batchSize: number): readonly (readonly TickWrite[])[] {
  const perBatch = Math.max(1, batchSize / INPUTS.length);
  const groups = Array.from({ length: Math.ceil(runs / perBatch) }, () =>
    Array.from({ length: perBatch }, () => ticksOf(clock)),
  );
  return Array.from({ length: groups.length + INPUTS.length - 1 }, (_, time) =>
    INPUTS.flatMap((_input, age) => (groups[time - age] ?? []).flatMap((ticks) => ticks[age] ?? [])),
  );
}

/** One number of the database. */
async function number(db: Database, sql: string): Promise<number> {
  return Number((await db.query<{ n: unknown }>(`select (${sql})::float8 as n`)).rows[0]?.n);
}

const RAW = prepared('raw_commit', 'insert into raw_commit (body) values ($1)');

/** Bytes of the tables of runs and their journal, indexes included. */
const STORED = `select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'ductor' and c.relkind = 'r' and (c.relname = 'runs' or c.relname like 'run\\_journal%')`;

function quantile(sorted: readonly number[], share: number): string {
  return (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2);
}

/** Commits of one row by 16 sessions, per second, over one second. */
async function rawCommits(url: string): Promise<number> {
  const db = openDatabase({ url, applicationName: 'ductor raw', maxConnections: 16 });
  await db.query('create table raw_commit (id bigint generated always as identity primary key, body text)');
  const endMs = clock.monotonicMs() + 1_000;
  let count = 0;
  const session = async (): Promise<void> => {
    for (; clock.monotonicMs() < endMs; count += 1) await db.query(RAW, ['x'.repeat(80)]);
  };
  await Promise.all(Array.from({ length: 16 }, session));
  await db.close();
  return count;
}

async function bench(runs: number, batchSize: number): Promise<void> {
  const created = await createTestDatabase();
  const db = openDatabase({ url: created.url, applicationName: 'ductor bench' });
  const nodeId = uuidV7(clock.nowUs(), random);
  const cluster = postgresClusterStore({ db, clock });
  const store = postgresRunStore({ db, clock });
  await cluster.register({ nodeId, address: 'bench', leaseMs: 600_000 });
  for (const batch of batchesOf(runs / 10, batchSize)) await store.commit(nodeId, batch);
  const warm = await number(db, 'select count(*) from ductor.runs');
  const batches = batchesOf(runs, batchSize);
  const ticks = batches.reduce((sum, batch) => sum + batch.length, 0);
  const before = await number(db, "select pg_current_wal_lsn() - '0/0'");
  const times: number[] = [];
  const startMs = clock.monotonicMs();
  const cpu = process.cpuUsage();
  for (const batch of batches) {
    const beginMs = clock.monotonicMs();
    const outcome = await store.commit(nodeId, batch);
    times.push(clock.monotonicMs() - beginMs);
    if (outcome.kind !== 'committed' || outcome.ticks.some((tick) => tick !== 'written')) console.log('!!', outcome);
  }
  const spentMs = clock.monotonicMs() - startMs;
  const { user, system } = process.cpuUsage(cpu);
  const wal = (await number(db, "select pg_current_wal_lsn() - '0/0'")) - before;
  const count = (await number(db, 'select count(*) from ductor.runs')) - warm;
  for (const table of ['runs', 'run_journal']) await db.query(`vacuum ductor.${table}`);
  const plain = await number(db, STORED);
  for (const table of ['runs', 'run_journal']) await db.query(`vacuum full ductor.${table}`);
  const full = await number(db, STORED);
  times.sort((a, b) => a - b);
  const raw = await rawCommits(created.url);
  const perSecond = (ticks / spentMs) * 1000;
  console.log(
    [
      `batch ${String(batchSize).padStart(4)}`,
      `${Math.round(perSecond)} ticks/s (${(perSecond / raw).toFixed(2)} of ${raw} raw commits/s)`,
      `commit p50 ${quantile(times, 0.5)} p99 ${quantile(times, 0.99)} ms`,
      `node cpu ${((user + system) / ticks).toFixed(1)} us/tick`,
      `WAL ${Math.round(wal / count)} B/run`,
      `stored ${Math.round(plain / (count + warm))} B/run (vacuum full ${Math.round(full / (count + warm))})`,
    ].join('   '),
  );
  await cluster.leave(nodeId);
  await Promise.all([cluster.close(), store.close()]);
  await db.close();
  await created.drop();
}

const sizes = ticksOf(clock).map((tick) => tick.entries.length);
console.log(`entries of the four rows: ${sizes.join(' + ')} bytes`);
const url = process.env['DATABASE_URL'];
if (url !== undefined) process.env['DUCTOR_TEST_DATABASE_URL'] = url;
await bench(2_000, 4);
await bench(20_000, 64);
await bench(40_000, 512);
if (url !== undefined) await dropRunDatabases(url, (await testServer()).prefix);
