/** The doctor on real databases: a healthy one, and ones with planted faults. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestNode, type TestNode } from '../../api/grpc/testing/test-node.js';
import { Entries } from '../../gen/ductor/journal/v1/journal.js';
import { systemClock, systemRandom, uuidV7 } from '../../kernel/index.js';
import { createTestDatabase, testDatabase } from '../../store/testing/index.js';
import { runProgram } from '../program.js';
import { capturedTerminal } from '../testing/captured-terminal.js';
import type { Finding } from './finding.js';

interface Report {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

const NOWHERE = { DUCTOR_DATA_DIR: '/nonexistent' };

async function examine(env: Record<string, string>): Promise<Report & { readonly code: number }> {
  const terminal = capturedTerminal();
  const code = await runProgram(['node', 'ductor', 'doctor', '--json'], { ...NOWHERE, ...env }, terminal);
  expect(terminal.complained()).toBe('');
  const report: Report = JSON.parse(terminal.written());
  expect(code).toBe(report.ok ? 0 : 1);
  return { ...report, code };
}

const bad = ({ findings }: Report): string[] =>
  findings.filter(({ level }) => level !== 'OK').map(({ level, check, found }) => `${level} ${check}: ${found}`);
const of = ({ findings }: Report, check: string): readonly Finding[] => findings.filter((each) => each.check === check);

describe('a database that an engine serves', () => {
  const database = testDatabase();
  let node: TestNode;
  let apiKey: string;
  beforeAll(async () => {
    node = await startTestNode(database.db);
    ({ apiKey } = await node.tenant('doctor'));
  });
  afterAll(() => node.stop());

  it('is well', async () => {
    const env = { DATABASE_URL: database.url, DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: apiKey };
    // A node says that it serves a moment after it has its shards.
    await expect.poll(async () => of(await examine(env), 'engine.serving')[0]?.level, { timeout: 10_000 }).toBe('OK');
    const report = await examine(env);
    // The server of the tests may run without fsync, for speed.
    expect(bad(report).filter((line) => !line.includes('database.durability'))).toEqual([]);
    expect(of(report, 'nodes')[0]?.found).toContain('256 shards');
    expect(of(report, 'plans')[0]?.found).toContain('go through their indexes');
    expect(of(report, 'engine.serving')[0]?.level).toBe('OK');
    expect(of(report, 'tables.journal_partitions')[0]?.level).toBe('OK');
  });

  it('is told for people, with what to do', async () => {
    const terminal = capturedTerminal({ hasColour: true });
    await runProgram(['node', 'ductor', 'doctor'], { ...NOWHERE, DATABASE_URL: database.url }, terminal);
    expect(terminal.written()).toMatch(/\u001b\[32mOK {2}\u001b\[0m {2}schema\.migrations/);
    expect(terminal.written()).toMatch(/\d+ OK, \d+ WARN, \d+ FAIL\n$/);
  });

  it('is seen by the engine alone, where no database is named', async () => {
    const report = await examine({ DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: apiKey });
    expect(report.findings.map(({ check, level }) => `${level} ${check}`)).toEqual([
      'OK engine.answers',
      'OK engine.serving',
      'OK runs.parked',
    ]);
  });

  it('has an engine that a wrong key cannot reach', async () => {
    const report = await examine({ DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: 'wrong' });
    expect(report.ok).toBe(false);
    expect(of(report, 'engine.answers')[0]?.remedy).not.toBe('');
  });
});

describe('planted faults', () => {
  const random = systemRandom();
  const clock = systemClock();
  let broken: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeEach(async () => {
    broken = await createTestDatabase();
    return async () => broken.drop();
  });

  const look = (): Promise<Report> => examine({ DATABASE_URL: broken.url });
  const id = (shard = 7): string => uuidV7(clock.nowUs(), random, shard);

  async function plantNode(leaseMs: number, shards: string): Promise<string> {
    const nodeId = id();
    await broken.db.query(
      `insert into ductor.engine_node (node_id, lane, lease_until, renewed_at, session_key, address)
        values ($1::uuid, 0, ductor.now_us() + $2::bigint * 1000, ductor.now_us(), 1, '10.0.0.1:7400')`,
      [nodeId, leaseMs],
    );
    await broken.db.query(`update ductor.shard_owner set node_id = $1::uuid where ${shards}`, [nodeId]);
    return nodeId;
  }

  async function plantRun(columns: Record<string, unknown>): Promise<string> {
    const runId = id();
    const row = { started_at: 1, version: 1, shard: 7, status: 2, active: true, wake_at: null, ...columns };
    await broken.db.query(
      `insert into ductor.runs (started_at, wake_at, version, shard, status, active, tenant_id, run_id, family_slug)
        values ($1, $2, $3, $4, $5, $6, $7::uuid, $8::uuid, 'planted')`,
      [row.started_at, row.wake_at, row.version, row.shard, row.status, row.active, id(), runId],
    );
    return runId;
  }

  it('no engine: says so, and that shards have no owner', async () => {
    const report = await look();
    expect(of(report, 'nodes')[0]).toMatchObject({ level: 'FAIL', found: 'no node is live' });
    expect(of(report, 'shards')[0]).toMatchObject({ level: 'FAIL', found: '256 shards of 256 without a live owner' });
  });

  it('a node whose lease ran out while it owns shards, and the runs that stand still by it', async () => {
    const dead = await plantNode(-90_000, 'shard between 0 and 9');
    await plantNode(60_000, 'shard > 9');
    const runId = await plantRun({});
    const report = await look();
    const found = of(report, 'nodes').find(({ level }) => level === 'FAIL')?.found;
    expect(found).toContain(`node ${dead} at 10.0.0.1:7400 owns 10 shards`);
    expect(found).toMatch(/lease ran out 1 m 3\d s ago/);
    expect(of(report, 'shards')[0]?.found).toContain('10 shards');
    expect(of(report, 'runs.stuck')[0]).toMatchObject({ level: 'FAIL', found: expect.stringContaining(runId) });
  });

  it('a run that waits past its time under a live node', async () => {
    await plantNode(60_000, 'true');
    const runId = await plantRun({ active: false, status: 3, wake_at: clock.nowUs() - 600_000_000 });
    await plantRun({ active: false, status: 3, wake_at: clock.nowUs() + 600_000_000 });
    const [finding] = of(await look(), 'runs.overdue');
    expect(finding).toMatchObject({ level: 'FAIL', found: expect.stringContaining(`1 run past their time`) });
    expect(finding?.found).toContain(runId);
  });

  it('parked runs, by their code', async () => {
    await plantNode(60_000, 'true');
    const started = { familySlug: 'planted', version: 1, input: { data: Buffer.from('null'), encoding: 'json' } };
    const entries = Entries.fromPartial({
      format: 1,
      entries: [
        { entry: { $case: 'runStarted', value: started } },
        { entry: { $case: 'runParked', value: { code: 'planted_code', message: 'by the test' } } },
      ],
    });
    const runs = [await plantRun({ active: false, status: 5 }), await plantRun({ active: false, status: 5 })];
    await broken.db.query(
      `insert into ductor.run_journal (at, tenant_id, run_id, seq, entries)
        select 1, tenant_id, run_id, 1, $1 from ductor.runs`,
      [Buffer.from(Entries.encode(entries).finish())],
    );
    const [finding] = of(await look(), 'runs.parked');
    expect(finding).toMatchObject({ level: 'WARN', found: expect.stringContaining('2 runs parked for planted_code') });
    for (const runId of runs) expect(finding?.found).toContain(runId);
  });

  it.each(['runs_active', 'runs_waiting', 'runs_listed'])('the index %s is missing', async (index) => {
    await broken.db.query(`drop index ductor.${index}`);
    const report = await look();
    const plans = of(report, 'plans');
    expect(plans.every(({ level }) => level === 'FAIL')).toBe(true);
    expect(plans.map(({ found }) => found).join()).toContain(`does not use ${index}`);
  });

  it('messages that wait in a mailbox nobody reads', async () => {
    await plantNode(60_000, 'true');
    await broken.db.query(
      `insert into ductor.run_inbox (tenant_id, chain_id, shard, kind, body)
        select gen_random_uuid(), gen_random_uuid(), 7, 1, 'x' from generate_series(1, 1200)`,
    );
    expect(of(await look(), 'mailbox')[0]).toMatchObject({ level: 'WARN', found: '1200 messages wait' });
    await broken.db.query('update ductor.shard_owner set node_id = null');
    expect(of(await look(), 'mailbox')[0]?.level).toBe('FAIL');
  });

  it('a journal without partitions ahead, and rows in the default one', async () => {
    await broken.db.query(
      `do $$ declare part record; begin
        for part in select inhrelid::regclass as name from pg_inherits
          where inhparent = 'ductor.run_journal'::regclass and inhrelid <> 'ductor.run_journal_default'::regclass
        loop execute 'drop table ' || part.name; end loop; end $$`,
    );
    await broken.db.query(
      "insert into ductor.run_journal (at, tenant_id, run_id, seq, entries) values (1, $1::uuid, $1::uuid, 1, 'x')",
      [id()],
    );
    const [finding] = of(await look(), 'tables.journal_partitions');
    expect(finding).toMatchObject({ level: 'WARN', found: expect.stringContaining('0 weeks') });
    expect(finding?.found).toContain('default one holds rows');
  });

  it('dead rows that were left lying', async () => {
    await broken.db.query('alter table ductor.run_attribute set (autovacuum_enabled = false)');
    await broken.db.query(
      `insert into ductor.run_attribute (tenant_id, run_id, name, value)
        select gen_random_uuid(), gen_random_uuid(), 'n', 'v' from generate_series(1, 15000)`,
    );
    // In one message, so that it is the same session: told to, the server counts at once.
    await broken.db.query('delete from ductor.run_attribute; select pg_stat_force_next_flush()');
    await expect
      .poll(async () => of(await look(), 'tables.dead_rows')[0]?.found, { timeout: 15_000, interval: 500 })
      .toMatch(/run_attribute has \d+ dead rows/);
  });

  it('no wall between tenants', async () => {
    await broken.db.query('alter table ductor.runs no force row level security');
    expect(of(await look(), 'schema.tenant_wall')[0]).toMatchObject({
      level: 'WARN',
      found: expect.stringContaining('not forced on runs'),
    });
  });

  it('a schema that is not there, or not up to date', async () => {
    const empty = await createTestDatabase({ isMigrated: false });
    const [none] = of(await examine({ DATABASE_URL: empty.url }), 'schema.migrations');
    expect(none).toMatchObject({ level: 'FAIL', found: 'the database has no schema ductor' });
    expect(none?.remedy).toContain('ductor migrate');
    await empty.drop();
    await broken.db.query("delete from ductor.schema_migration where name like '0004%'");
    const [pending] = of(await look(), 'schema.migrations');
    expect(pending).toMatchObject({ level: 'FAIL', found: '1 migration pending: 0004_tenancy' });
  });

  it('a database that does not answer', async () => {
    const report = await examine({ DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/none' });
    expect(report.findings).toHaveLength(1);
    expect(report.findings[0]).toMatchObject({ level: 'FAIL', check: 'database.answers' });
  });

  it('nothing to look at is wrong usage of the environment', async () => {
    const terminal = capturedTerminal();
    expect(await runProgram(['node', 'ductor', 'doctor'], NOWHERE, terminal)).toBe(1);
    expect(terminal.complained()).toContain('Set DATABASE_URL');
  });
});
