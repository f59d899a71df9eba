/** Removal of expired runs on a real server: what goes, what stays, and what a kill in the middle leaves. */
import { beforeEach, describe, expect, it } from 'vitest';
import { sleep, systemClock, uuidV7, systemRandom } from '../../kernel/index.js';
import type { Database, Row } from '../../store/index.js';
import { testDatabase } from '../../store/testing/index.js';
import { createJanitor, type Janitor, type JanitorReport } from './janitor.js';
import { WEEK_US } from './week.js';

const database = testDatabase();
const DAY_US = 86_400_000_000;
const TENANT = '01900000-0000-7000-8000-0000000000aa';
const clock = systemClock();
const random = systemRandom();
const nowUs = (): number => Date.now() * 1000;
const THIS_WEEK = Math.floor(nowUs() / WEEK_US);

interface Seed {
  /** How long ago it began, days. */
  readonly ageDays: number;
  /** How long after its start it ended, days; null: it is open. */
  readonly lastedDays?: number | null;
  readonly retentionDays: number;
  readonly rootId?: string;
  readonly chain?: { readonly chainId: string; readonly no: number };
  /** Rows of its journal. Default: 2. */
  readonly rows?: number;
  readonly payloads?: number;
}

/** A run with something in each table that knows runs. */
async function seed(db: Database, run: Seed): Promise<string> {
  const { ageDays, lastedDays = 0, retentionDays, rootId = null, chain, rows = 2, payloads = 1 } = run;
  const startedUs = nowUs() - ageDays * DAY_US;
  const runId = uuidV7(startedUs, random, 7);
  const closedUs = lastedDays === null ? null : startedUs + lastedDays * DAY_US;
  await db.query(
    `insert into ductor.runs (started_at, closed_at, version, shard, status, active, tenant_id, run_id, family_slug,
      root_id, chain_id, chain_no, retention_us)
    values ($1, $2, 1, 7, case when $2::bigint is null then 3 else 7 end, false, $3, $4, 'f', $5, $6, $7, $8)`,
    [startedUs, closedUs, TENANT, runId, rootId, chain?.chainId ?? null, chain?.no ?? null, retentionDays * DAY_US],
  );
  await db.query(`insert into ductor.run_journal select $1, $2, $3, n, '\\x00' from generate_series(1, $4::int) n`, [
    startedUs,
    TENANT,
    runId,
    rows,
  ]);
  await db.query(
    `insert into ductor.payloads select $1, $2, sha256(n::text::bytea), '\\x00' from generate_series(1, $3::int) n`,
    [TENANT, runId, payloads],
  );
  await db.query(`insert into ductor.run_snapshot values ($1, $2, 1, '\\x00')`, [TENANT, runId]);
  await db.query(`insert into ductor.run_attribute values ($1, $2, 'k', 'v', $3)`, [TENANT, runId, startedUs]);
  await db.query(
    `insert into ductor.run_start_key (expires_at, tenant_id, run_id, version, fingerprint, family_slug, key)
      values ($1, $2, $3::uuid, 1, '\\x00', 'f', $3::text)`,
    [nowUs() + 30 * DAY_US, TENANT, runId],
  );
  return runId;
}

const TABLES = ['runs', 'run_journal', 'payloads', 'run_snapshot', 'run_attribute', 'run_start_key', 'run_leftover'];

/** Rows of each table. */
async function counts(db: Database): Promise<Readonly<Record<string, number>>> {
  const counted = TABLES.map((name) => `(select count(*)::int from ductor.${name}) as ${name}`);
  const { rows } = await db.query<Row & Record<string, number>>(`select ${counted.join(', ')}`);
  return { ...rows[0] };
}

async function runIds(db: Database): Promise<readonly string[]> {
  const { rows } = await db.query<Row & { run_id: string }>('select run_id from ductor.runs order by run_id');
  return rows.map(({ run_id: runId }) => runId);
}

async function partitions(db: Database): Promise<readonly string[]> {
  const { rows } = await db.query<Row & { name: string }>(
    `select c.relname::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent in ('ductor.run_journal'::regclass, 'ductor.payloads'::regclass) and c.relname ~ '_w'`,
  );
  return rows.map(({ name }) => name);
}

async function makePartition(db: Database, week: number): Promise<void> {
  for (const table of ['run_journal', 'payloads']) {
    const bounds = [week, week + 1].map((n) => `(ductor.first_run_id(${n * 604_800_000}::bigint))`);
    await db.query(`create table if not exists ductor.${table}_w${week} partition of ductor.${table}
      for values from ${bounds[0]} to ${bounds[1]}`);
  }
}

function janitor(onStep: () => void = () => undefined, db: Database = database.db): Janitor {
  return createJanitor({ db, clock: { ...clock, nowUs }, onStep, onPass: () => undefined, onError: () => undefined });
}

const ALL_GONE = Object.fromEntries(TABLES.map((name) => [name, 0]));
const weekOf = (ageDays: number): number => Math.floor((nowUs() - ageDays * DAY_US) / WEEK_US);

beforeEach(async () => {
  for (const name of TABLES) await database.db.query(`delete from ductor.${name}`);
});

describe('runs with a short retention', () => {
  it('go with all that belongs to them, and others stay whole', async () => {
    const { db } = database;
    await seed(db, { ageDays: 3, retentionDays: 1 });
    const kept = [
      await seed(db, { ageDays: 3, retentionDays: 4 }),
      await seed(db, { ageDays: 3, lastedDays: null, retentionDays: 1 }),
    ];
    expect(await janitor().pass()).toMatchObject({ runs: 1, rows: 3, partitions: 0 });
    expect(await runIds(db)).toEqual([...kept].sort());
    expect(await counts(db)).toEqual({
      ...{ runs: 2, run_journal: 4, payloads: 2, run_snapshot: 2, run_attribute: 2, run_start_key: 2 },
      run_leftover: 0,
    });
    expect(await janitor().pass()).toMatchObject({ runs: 0, rows: 0 });
  });

  it('go in steps that are bounded by rows, however long a journal is', async () => {
    const { db } = database;
    await seed(db, { ageDays: 3, retentionDays: 1, rows: 12_000, payloads: 250 });
    const steps: number[] = [];
    const report: JanitorReport = await createJanitor({
      ...{ db, clock: { ...clock, nowUs }, onPass: () => undefined, onError: () => undefined },
      onStep: ({ rows }) => void steps.push(rows),
    }).pass();
    expect(report).toMatchObject({ runs: 1, rows: 12_250 });
    expect(Math.max(...steps)).toBeLessThanOrEqual(5_100);
    expect(await counts(db)).toEqual(ALL_GONE);
  });
});

describe('what is open', () => {
  it('keeps its family: above, beside and below it', async () => {
    const { db } = database;
    const old = { ageDays: 3, retentionDays: 1 };
    const root = await seed(db, old);
    await seed(db, { ...old, rootId: root });
    const open = await seed(db, { ...old, rootId: root, lastedDays: null });
    await seed(db, old);
    expect(await janitor().pass()).toMatchObject({ runs: 1 });
    expect(await counts(db)).toMatchObject({ runs: 3, run_journal: 6 });
    await db.query('update ductor.runs set closed_at = started_at where run_id = $1', [open]);
    expect(await janitor().pass()).toMatchObject({ runs: 3 });
    expect(await counts(db)).toEqual(ALL_GONE);
  });

  it('keeps the earlier runs of its chain, and their children', async () => {
    const { db } = database;
    const old = { ageDays: 3, retentionDays: 1 };
    const first = await seed(db, old);
    const second = await seed(db, { ...old, chain: { chainId: first, no: 2 } });
    await seed(db, { ...old, rootId: second });
    const last = await seed(db, { ...old, lastedDays: null, chain: { chainId: first, no: 3 } });
    expect(await janitor().pass()).toMatchObject({ runs: 0 });
    await db.query('update ductor.runs set closed_at = started_at where run_id = $1', [last]);
    expect(await janitor().pass()).toMatchObject({ runs: 4 });
    expect(await counts(db)).toEqual(ALL_GONE);
  });
});

describe('a week of runs that are kept long', () => {
  it('is dropped once all of it is expired, and not row by row before', async () => {
    const { db } = database;
    const week = weekOf(40);
    await makePartition(db, week);
    const last = await seed(db, { ageDays: 40, retentionDays: 35, lastedDays: 0.1 });
    for (let n = 0; n < 3; n += 1) await seed(db, { ageDays: 40, retentionDays: 35 });
    await db.query('update ductor.runs set retention_us = retention_us * 2 where run_id = $1', [last]);
    expect(await janitor().pass()).toMatchObject({ runs: 0 });
    await db.query('update ductor.runs set retention_us = retention_us / 2 where run_id = $1', [last]);
    expect(await janitor().pass()).toMatchObject({ runs: 4, rows: 0, partitions: 2 });
    expect(await counts(db)).toEqual(ALL_GONE);
    expect((await partitions(db)).filter((name) => name.endsWith(`_w${week}`))).toEqual([]);
    expect(await partitions(db)).toContain(`run_journal_w${THIS_WEEK}`);
  });

  it('goes run by run eight days later where something of it has to stay', async () => {
    const { db } = database;
    const week = weekOf(60);
    await makePartition(db, week);
    const open = await seed(db, { ageDays: 60, lastedDays: null, retentionDays: 30 });
    await seed(db, { ageDays: 60, retentionDays: 55 });
    await seed(db, { ageDays: 60, retentionDays: 30 });
    const family = await seed(db, { ageDays: 60, retentionDays: 30, rootId: open });
    expect(await janitor().pass()).toMatchObject({ runs: 1, rows: 3, partitions: 0 });
    expect(await runIds(db)).toContain(family);
    expect(await counts(db)).toMatchObject({ runs: 3, run_journal: 6 });
  });
});

describe('a janitor that is killed', () => {
  it.each([1, 2, 3, 4, 5])('in its step %i leaves what the next one finishes', async (at) => {
    const { db } = database;
    const week = weekOf(40);
    await makePartition(db, week);
    for (let n = 0; n < 3; n += 1) await seed(db, { ageDays: 40, retentionDays: 30 });
    for (let n = 0; n < 3; n += 1) await seed(db, { ageDays: 2, retentionDays: 1, rows: 7_000 });
    let steps = 0;
    const killed: Database = {
      ...db,
      query: (...args) => db.query(...args),
      transaction: (work) =>
        db.transaction(async (tx) => {
          const done = await work(tx);
          steps += 1;
          // The session ends before its commit: as far as the server knows, the process is gone.
          if (steps === at) await tx.query('select pg_terminate_backend(pg_backend_pid())');
          return done;
        }),
    };
    await expect(janitor(undefined, killed).pass()).rejects.toMatchObject({ code: 'database_unavailable' });
    await sleep(clock, 20);
    const left = await runIds(db);
    const { run_journal: rows = 0 } = await counts(db);
    // Whoever is still found is still whole.
    expect(rows).toBeGreaterThanOrEqual(left.length * 2);
    await janitor().pass();
    expect(await counts(db)).toEqual(ALL_GONE);
  });

  it('shares the work with another one: each run goes once', async () => {
    const { db } = database;
    for (let n = 0; n < 20; n += 1) await seed(db, { ageDays: 2, retentionDays: 1 });
    const reports = await Promise.all([janitor().pass(), janitor().pass(), janitor().pass()]);
    await janitor().pass();
    expect(reports.reduce((sum, { runs }) => sum + runs, 0)).toBeLessThanOrEqual(20);
    expect(await counts(db)).toEqual(ALL_GONE);
  });
});
