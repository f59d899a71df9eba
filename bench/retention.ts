/**
 * What it costs to remove expired runs: one by one, and with their week. Time, WAL and blocks a 10,000 runs.
 *
 * The database is one of DUCTOR_TEST_DATABASE_URL (default: an embedded server).
 *
 * Run: npx tsx bench/retention.ts [runs, default 100000]
 */
import { systemClock } from '../engine/src/kernel/index.js';
import type { Database, Row } from '../engine/src/store/index.js';
import { createTestDatabase } from '../engine/src/store/testing/index.js';
import { createJanitor } from '../engine/src/workflow/index.js';
import { seedRuns } from '../test/support/seed-runs.js';

const RUNS = Number(process.argv[2] ?? 100_000);
const TENANT = '01900000-0000-7000-8000-0000000000ac';
const WEEK_MS = 604_800_000;
const clock = systemClock();

async function walBytes(db: Database): Promise<number> {
  const { rows } = await db.query<Row & { bytes: number }>(`select (pg_current_wal_lsn() - '0/0')::bigint as bytes`);
  return rows[0]?.bytes ?? 0;
}

/** Removes everything that is due; prints what it cost. */
async function measure(db: Database, name: string): Promise<void> {
  const steps: number[] = [];
  const wal = await walBytes(db);
  const janitor = createJanitor({
    ...{ db, clock, onPass: () => undefined, onError: console.error },
    onStep: (_, tookMs) => void steps.push(tookMs),
  });
  const { runs, rows, partitions } = await janitor.pass();
  const busyMs = steps.reduce((sum, ms) => sum + ms, 0);
  const per = 10_000 / Math.max(1, runs);
  const kib = ((await walBytes(db)) - wal) / 1024;
  const what = `${name}: ${runs} runs, ${rows} rows, ${partitions} partitions in ${steps.length} steps`;
  const cost = `${(busyMs * per).toFixed(0)} ms and ${(kib * per).toFixed(0)} KiB of WAL`;
  console.log(`${what}; a 10,000 runs ${cost}; longest step ${Math.max(...steps).toFixed(0)} ms`);
}

const database = await createTestDatabase();
const { db } = database;
try {
  await seedRuns(db, TENANT, RUNS);
  await db.query(
    `update ductor.runs set closed_at = started_at - 7200000000, retention_us = 3600000000 where closed_at is not null`,
  );
  await db.query('vacuum analyze ductor.runs');
  await measure(db, 'one by one');
  for (const name of ['runs', 'run_attribute', 'run_journal']) await db.query(`truncate ductor.${name}`);

  // The same runs in the week that lies so far back that it is over for the runs' retention.
  const week = Math.floor(Date.now() / WEEK_MS) - 6;
  for (const table of ['run_journal', 'payloads']) {
    const bound = (n: number): string => `(ductor.first_run_id(${n * WEEK_MS}::bigint))`;
    await db.query(`create table if not exists ductor.${table}_w${week} partition of ductor.${table}
      for values from ${bound(week)} to ${bound(week + 1)}`);
  }
  await db.query(`create or replace function ductor.ductor_now() returns timestamptz language sql volatile parallel safe
    as $$ select timestamptz 'epoch' + interval '1 millisecond' * ${(week + 0.9) * WEEK_MS} $$`);
  await seedRuns(db, TENANT, RUNS);
  await db.query(`create or replace function ductor.ductor_now() returns timestamptz language sql volatile parallel safe
    as $$ select clock_timestamp() $$`);
  await db.query('update ductor.runs set closed_at = started_at, retention_us = 30 * 86400000000');
  await db.query('vacuum analyze ductor.runs');
  await measure(db, 'with their week');
} finally {
  await database.drop();
}
