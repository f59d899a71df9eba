/** What people ask about runs; and what is done now and then. */
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { seededRandom, systemClock, uuidV7 } from '../../engine/src/kernel/index.js';
import { replaceDatabaseClock, testDatabase, type DatabaseClock } from '../../engine/src/store/testing/index.js';
import type { RunHeader, RunKey } from '../../engine/src/workflow/coordinator/ports.js';
import {
  maintainRuns,
  postgresClusterStore,
  postgresRunReader,
  postgresRunStore,
  type PostgresClusterStore,
  type PostgresRunStore,
  type RunReader,
} from '../../engine/src/workflow/store-postgres/index.js';
import { CLOSED, start, tick } from '../../engine/src/workflow/testing/contract/world.js';

const test = testDatabase();
const clock = systemClock();
const random = seededRandom(7);
const START_US = 1_800_000_000_000_000;
let drawn = 0;
const id = (): string => uuidV7(START_US + (drawn += 1) * 1_000, random);

let store: PostgresRunStore;
let cluster: PostgresClusterStore;
let reader: RunReader;
const nodeId = id();

beforeAll(async () => {
  store = postgresRunStore({ db: test.db, clock });
  cluster = postgresClusterStore({ db: test.db, clock });
  reader = postgresRunReader(test.db);
  await cluster.register({ nodeId, address: 'reader.test:1', leaseMs: 600_000 });
});
afterAll(async () => {
  await Promise.all([store.close(), cluster.close()]);
});

/** Starts runs of a tenant, one a second; change says what is special about the i-th. */
async function startRuns(
  tenantId: string,
  count: number,
  change: (i: number) => Partial<RunHeader> = () => ({}),
): Promise<readonly RunKey[]> {
  const runs = Array.from({ length: count }, () => ({ tenantId, runId: id() }));
  const ticks = runs.map((run, i) => start(run, { startedAtUs: START_US + i * 1_000_000, ...change(i) }));
  expect(await store.commit(nodeId, ticks)).toEqual({ kind: 'committed', ticks: runs.map(() => 'written') });
  return runs;
}

/** Ids of all pages. */
async function listed(query: Parameters<RunReader['list']>[0]): Promise<readonly string[]> {
  const ids: string[] = [];
  let page = await reader.list(query);
  for (;;) {
    ids.push(...page.headers.map((header) => header.runId));
    if (page.next === null) return ids;
    page = await reader.list({ ...query, cursor: page.next });
  }
}

describe('list', () => {
  it('gives the newest first, each run once, whatever the page', async () => {
    const tenantId = id();
    const runs = await startRuns(tenantId, 23);
    const newestFirst = runs.map((run) => run.runId).toReversed();
    for (const limit of [1, 4, 23, 24, 100]) expect(await listed({ tenantId, limit })).toEqual(newestFirst);
  });

  it('goes on inside of runs that started at the same instant', async () => {
    const tenantId = id();
    const runs = await startRuns(tenantId, 20, (i) => ({ startedAtUs: START_US + Math.floor(i / 7) }));
    const expected = [runs.slice(14), runs.slice(7, 14), runs.slice(0, 7)].flat().map((run) => run.runId);
    for (const limit of [1, 3, 7, 50]) expect(await listed({ tenantId, limit })).toEqual(expected);
  });

  it('filters by status and workflow, with attributes', async () => {
    const tenantId = id();
    const runs = await startRuns(tenantId, 12, (i) => ({
      familySlug: i % 2 === 0 ? 'even' : 'odd',
      ...(i % 3 === 0 ? CLOSED : {}),
      attributes: i === 6 ? { region: 'eu' } : {},
    }));
    const which = (indexes: readonly number[]): readonly (string | undefined)[] => indexes.map((i) => runs[i]?.runId);
    expect(await listed({ tenantId, limit: 2, status: 'COMPLETED' })).toEqual(which([9, 6, 3, 0]));
    expect(await listed({ tenantId, limit: 2, familySlug: 'even' })).toEqual(which([10, 8, 6, 4, 2, 0]));
    const both = await reader.list({ tenantId, limit: 10, status: 'COMPLETED', familySlug: 'even' });
    expect(both.headers.map((header) => [header.runId, header.attributes])).toEqual([
      [runs[6]?.runId, { region: 'eu' }],
      [runs[0]?.runId, {}],
    ]);
    expect(both.next).toBeNull();
  });

  it('filters by attributes and start, page by page', async () => {
    const tenantId = id();
    const runs = await startRuns(tenantId, 12, (i) => ({
      startedAtUs: START_US + i,
      attributes: { region: i % 2 === 0 ? 'north' : 'south', ...(i % 3 === 0 ? { plan: 'a"\\ ü' } : {}) },
    }));
    const which = (indexes: readonly number[]): readonly string[] => indexes.map((index) => runs[index]?.runId ?? '');
    const north = { region: 'north' };
    expect(await listed({ tenantId, limit: 2, attributes: north })).toEqual(which([10, 8, 6, 4, 2, 0]));
    const both = { ...north, plan: 'a"\\ ü' };
    expect(await listed({ tenantId, limit: 1, attributes: both })).toEqual(which([6, 0]));
    expect(await listed({ tenantId, limit: 5, attributes: { ...both, none: '' } })).toEqual([]);
    const within = { startedAfterUs: START_US + 3, startedBeforeUs: START_US + 8 };
    expect(await listed({ tenantId, limit: 2, ...within })).toEqual(which([7, 6, 5, 4, 3]));
    expect(await listed({ tenantId, limit: 2, ...within, attributes: north })).toEqual(which([6, 4]));
    expect(await listed({ tenantId: id(), limit: 5, attributes: north })).toEqual([]);
  });

  it('shows nothing of another tenant', async () => {
    await startRuns(id(), 3);
    expect(await reader.list({ tenantId: id(), limit: 10 })).toEqual({ headers: [], next: null });
  });
});

describe('get, history, closedAmong', () => {
  it('give a run, its rows and whether it is closed', async () => {
    const tenantId = id();
    const [run, closed] = await startRuns(tenantId, 2, (i) => (i === 1 ? CLOSED : {}));
    if (run === undefined || closed === undefined) return;
    for (const seq of [2, 3, 4, 5]) {
      await store.commit(nodeId, [tick(run, seq, { snapshot: seq === 4 ? Uint8Array.of(4) : null })]);
    }
    const found = await reader.get(tenantId, run.runId);
    expect([found?.snapshot?.seq, found?.rows.map((row) => row.seq)]).toEqual([4, [5]]);
    const rows = async (after: number, limit: number): Promise<readonly number[]> =>
      (await reader.history(run, after, limit)).map((row) => row.seq);
    expect(await rows(0, 100)).toEqual([1, 2, 3, 4, 5]);
    expect(await rows(2, 2)).toEqual([3, 4]);
    expect(await reader.closedAmong([run, closed, { tenantId, runId: id() }])).toEqual([closed]);
  });

  it('know nothing of ids that cannot be, nor of other tenants', async () => {
    const [run] = await startRuns(id(), 1);
    if (run === undefined) return;
    const bad = { tenantId: run.tenantId, runId: "x' or true --" };
    expect(await reader.get(bad.tenantId, bad.runId)).toBeUndefined();
    expect(await reader.get(id(), run.runId)).toBeUndefined();
    expect(await reader.getMany([bad, run]).then((found) => found.map((one) => one.runId))).toEqual([run.runId]);
    expect(await reader.closedAmong([bad])).toEqual([]);
    expect(await reader.history(bad, 0, 10)).toEqual([]);
    expect(await reader.history({ ...run, tenantId: id() }, 0, 10)).toEqual([]);
  });

  it('read a run from its first row when its snapshot cannot be read', async () => {
    const [run] = await startRuns(id(), 1);
    if (run === undefined) return;
    await store.commit(nodeId, [tick(run, 2, { snapshot: Uint8Array.of(99) })]);
    await store.commit(nodeId, [tick(run, 3)]);
    const found = await postgresRunReader(test.db, (data) => data[0] !== 99).get(run.tenantId, run.runId);
    expect([found?.snapshot, found?.rows.map((row) => row.seq)]).toEqual([null, [1, 2, 3]]);
  });

  it('say so when the journal has a gap', async () => {
    const [run] = await startRuns(id(), 1);
    if (run === undefined) return;
    await store.commit(nodeId, [tick(run, 3)]);
    await expect(reader.get(run.tenantId, run.runId)).rejects.toThrow(/has no row 2 before 3/);
  });
});

describe('maintenance', () => {
  /** Tables with a partition a week: the journal, and the values beside it. */
  const TABLES = 2;
  const own = testDatabase();
  let databaseClock: DatabaseClock;
  beforeAll(async () => {
    databaseClock = await replaceDatabaseClock(own.db);
  });

  it('makes partitions ahead, once, and rows go to the one of their week', async () => {
    expect(await maintainRuns(own.db)).toEqual({ partitionsMade: 0, startKeysRemoved: 0 });
    await databaseClock.advance(3 * 7 * 24 * 3600 * 1_000_000);
    expect((await maintainRuns(own.db)).partitionsMade).toBe(3 * TABLES);
    expect((await maintainRuns(own.db)).partitionsMade).toBe(0);
    const { rows: times } = await own.db.query<{ us: number }>('select ductor.now_us() as us');
    const runId = uuidV7(times[0]?.us ?? 0, random);
    await own.db.query("insert into ductor.run_journal values (1, $1, $1, 1, 'x')", [runId]);
    const { rows } = await own.db.query<{ part: string }>(
      'select relname as part from ductor.run_journal j join pg_class c on c.oid = j.tableoid',
    );
    expect(rows[0]?.part).toBe(`run_journal_w${Math.floor((times[0]?.us ?? 0) / 604_800_000_000)}`);
  });

  it('is done by one of many that start it at once', async () => {
    await databaseClock.advance(2 * 7 * 24 * 3600 * 1_000_000);
    const done = await Promise.all([1, 2, 3].map(() => maintainRuns(own.db)));
    expect(done.map((one) => one.partitionsMade).sort((a, b) => a - b)).toEqual([0, 0, 2 * TABLES]);
  });

  it('leaves a week whose runs stand in the default partition there', async () => {
    const { rows } = await own.db.query<{ us: number }>('select ductor.now_us() as us');
    const inSixWeeks = (rows[0]?.us ?? 0) + 6 * 604_800_000_000;
    await own.db.query("insert into ductor.run_journal values (1, $1, $1, 1, 'x')", [uuidV7(inSixWeeks, random)]);
    await databaseClock.advance(6 * 7 * 24 * 3600 * 1_000_000);
    expect((await maintainRuns(own.db)).partitionsMade).toBeGreaterThanOrEqual(3);
    const count = await own.db.query<{ n: number }>('select count(*) as n from ductor.run_journal_default');
    expect(count.rows[0]?.n).toBe(1);
  });

  it('removes start keys that have expired', async () => {
    const node = postgresRunStore({ db: own.db, clock });
    const owner = postgresClusterStore({ db: own.db, clock });
    await owner.register({ nodeId, address: 'a', leaseMs: 5_000 });
    const startKey = { key: 'k', fingerprint: new Uint8Array(32) };
    await node.commit(nodeId, [start({ tenantId: id(), runId: id() }, {}, { startKey })]);
    expect((await maintainRuns(own.db)).startKeysRemoved).toBe(0);
    await databaseClock.advance(30 * 24 * 3600 * 1_000_000);
    expect((await maintainRuns(own.db)).startKeysRemoved).toBe(1);
    await Promise.all([node.close(), owner.close()]);
  });
});
