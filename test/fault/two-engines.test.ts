/**
 * Two engines on one database, one of them stopped by SIGSTOP: the other goes on within a lease and a second; the
 * stopped one, continued, finds itself fenced and changes nothing.
 */
import { join } from 'node:path';
import { DuctorClient } from '@ductor/sdk';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { chainWorkflow, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import { balanced, databaseNowUs, firstTickAfter, journalDigest, shardsOf } from '../support/cluster.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.js';
import { type Engine, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { retrying, sleep, until } from '../support/wait.js';

const LEASE_MS = 5_000;
const RESUME_LIMIT_MS = LEASE_MS + 1_000;
const RUNS = 120;
const STEPS = 10;
const BODY_MS = 100;
const CAPACITY = 60;
/**
 * A tick carries the time at which it was computed. Those of the stopped engine are from before the signal, however
 * late they are committed, but for the error of its estimate of database time.
 */
const CLOCK_MARGIN_US = 50_000;

const test = testDatabase();
cleanUpProcesses();

const chain = { slug: 'two-engines', steps: STEPS, marks: join(scratchFolder('marks'), 'marks.jsonl') };
const workflow = chainWorkflow({ ...chain, marks: '' });
const marks = new Marks(chain.marks);
let proxy: DatabaseProxy;
/** The one that is stopped; it reaches the database through the proxy. */
let victim: Engine;
let other: Engine;
let workerPid: number;
/** Clients of the victim and of the other: a node starts runs in its own shards, so each gets half of them. */
let clients: readonly [DuctorClient, DuctorClient];
let started = 0;

beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  proxy = await startDatabaseProxy(test.url);
  const env = { DUCTOR_LEASE_MS: String(LEASE_MS) };
  victim = await startEngine({ name: 'victim', databaseUrl: proxy.url, env });
  other = await startEngine({ name: 'other', databaseUrl: test.url, env });
  const addresses = [victim.address, other.address];
  const worker = await startChainWorker({ ...chain, name: 'worker', addresses, apiKey, capacity: CAPACITY });
  workerPid = worker.pid;
  clients = [new DuctorClient({ engine: victim.address, apiKey }), new DuctorClient({ engine: other.address, apiKey })];
  return async () => {
    for (const client of clients) client.close();
    await proxy.close();
  };
});

beforeEach(async () => {
  await balanced(test.db, [victim.address, other.address], 100);
});

/** Starts runs and waits until nearly all slots are taken; returns what waits for the runs. */
async function load(): Promise<() => Promise<void>> {
  const ids = await Promise.all(
    Array.from({ length: RUNS }, async (_, index) => {
      const name = `run-${(started += 1)}`;
      const client = clients[index % 2 === 0 ? 0 : 1];
      // A node that just got its shards may not have noticed yet; it says so, and to try again.
      const options = { idempotencyKey: name };
      return (await retrying(() => client.trigger(workflow, { name, bodyMs: BODY_MS }, options))).id;
    }),
  );
  await until('slots to be taken', () => marks.inFlight([workerPid]) >= CAPACITY - 5, { everyMs: 5 });
  return async () => {
    for (const id of ids) await clients[1].run(id).result({ timeoutMs: 60_000 });
  };
}

/** Waits until the other node ticks a run of the shards; returns how long after the stop that was, ms. */
async function resumedAfterMs(shards: readonly number[], stoppedUs: number): Promise<number> {
  await until('the shards to move', async () => (await shardsOf(test.db, victim.address)).length === 0, {
    everyMs: 10,
  });
  const movedMs = ((await databaseNowUs(test.db)) - stoppedUs) / 1_000;
  const firstUs = await until(
    'the other engine to go on',
    () => firstTickAfter(test.db, shards, stoppedUs + CLOCK_MARGIN_US),
    { limitMs: 20_000, everyMs: 10, detail: () => other.child.output.slice(-4_000) },
  );
  const firstMs = (firstUs - stoppedUs) / 1_000;
  console.log(`two engines: shards moved after ${Math.round(movedMs)} ms, first tick after ${Math.round(firstMs)} ms`);
  return firstMs;
}

/** Continues the stopped engine; checks that its fence was counted and that what stood in the journal stands there. */
async function continueFenced(fencedBefore: number): Promise<number> {
  const nowUs = await databaseNowUs(test.db);
  const before = await journalDigest(test.db, nowUs);
  victim.child.signal('SIGCONT');
  const fenced = await until('the fence to be counted', async () => {
    const { fenced_commits: count } = await victim.metrics();
    return count > fencedBefore && count;
  });
  const written = new Set(await journalDigest(test.db, nowUs + 60_000_000));
  expect(
    before.filter((line) => !written.has(line)),
    'rows that are gone or changed',
  ).toEqual([]);
  return fenced - fencedBefore;
}

/** Every run completed, every attempt has one outcome. */
async function expectSound(): Promise<void> {
  const journal = await readJournal(test.db);
  expect(contradictions(journal)).toEqual([]);
  expect(journal.filter(({ closed }) => closed !== 'COMPLETED')).toEqual([]);
  expect(journal).toHaveLength(started);
}

/** Opens a transaction that the victim's next commit of this run has to wait for. */
async function blockCommit(
  shards: readonly number[],
): Promise<{ release(): Promise<void>; blocked(): Promise<readonly number[]> }> {
  const session = await test.db.connect({ name: 'blocker' });
  await session.query('begin');
  await session.query(
    `insert into ductor.run_journal (at, tenant_id, run_id, seq, entries)
      select ductor.now_us(), j.tenant_id, j.run_id, max(j.seq) + 1, ''::bytea
      from ductor.run_journal j join ductor.runs r using (tenant_id, run_id)
      where r.closed_at is null and r.shard = any($1::smallint[])
      group by j.tenant_id, j.run_id order by random() limit 1`,
    [`{${shards.join()}}`],
  );
  return {
    async release() {
      await session.query('rollback');
      await session.close();
    },
    async blocked() {
      const { rows } = await test.db.query<{ pid: number }>(
        'select pid from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
        [session.backendPid],
      );
      return rows.map(({ pid }) => pid);
    },
  };
}

describe('an engine that is stopped', () => {
  it('in mid-run: the other resumes within lease + 1 s, and the continued one is fenced', async () => {
    const done = await load();
    const { fenced_commits: fencedBefore } = await victim.metrics();
    const shards = await shardsOf(test.db, victim.address);
    const stoppedUs = await databaseNowUs(test.db);
    victim.child.signal('SIGSTOP');
    const tookMs = await resumedAfterMs(shards, stoppedUs);
    await done();
    const doneMs = ((await databaseNowUs(test.db)) - stoppedUs) / 1_000;
    const fenced = await continueFenced(fencedBefore);
    console.log(
      `two engines, mid-run: all runs done after ${Math.round(doneMs)} ms, ` +
        `while one stood still; fences met by the zombie: ${fenced}`,
    );
    expect(tookMs).toBeLessThan(RESUME_LIMIT_MS);
    // The worker's connection to it is noticed as dead after 15 s only; results must not wait for that.
    expect(doneMs).toBeLessThan(12_000);
    expect(tookMs, 'shards move only when the lease is over').toBeGreaterThan(LEASE_MS - 1_500);
    await expectSound();
  });

  it.each([
    { name: 'held until its statement times out', holdMs: undefined },
    { name: 'that commits while its engine is stopped', holdMs: 1_000 },
  ])('in mid-transaction, $name: the other resumes within lease + 1 s', async ({ name, holdMs }) => {
    const done = await load();
    const { fenced_commits: fencedBefore } = await victim.metrics();
    const shards = await shardsOf(test.db, victim.address);
    const blocker = await blockCommit(shards);
    // Later the other engine's commits may wait for the same row: only the victim's session counts.
    const waiting = await until("the victim's commit to wait", async () => (await blocker.blocked())[0], {
      everyMs: 2,
    });
    const stoppedUs = await databaseNowUs(test.db);
    victim.child.signal('SIGSTOP');
    const hasTimedOut = async (): Promise<boolean> => !(await blocker.blocked()).includes(waiting);
    if (holdMs === undefined) await until('the statement to time out', hasTimedOut);
    else await sleep(holdMs);
    await blocker.release();
    const releasedMs = ((await databaseNowUs(test.db)) - stoppedUs) / 1_000;
    const tookMs = await resumedAfterMs(shards, stoppedUs);
    await sleep(500);
    const fenced = await continueFenced(fencedBefore);
    await done();
    console.log(
      `two engines, mid-transaction (${name}): lock gone after ${Math.round(releasedMs)} ms, ` +
        `fences met by the zombie: ${fenced}`,
    );
    expect(tookMs).toBeLessThan(RESUME_LIMIT_MS);
    await expectSound();
  });

  it('with a commit on the wire that arrives after the takeover: it is refused by the fence', async () => {
    const done = await load();
    const { fenced_commits: fencedBefore } = await victim.metrics();
    const shards = await shardsOf(test.db, victim.address);
    let isHolding = true;
    proxy.plan = () => {
      const verdict = isHolding ? 'hold' : 'pass';
      isHolding = false;
      return verdict;
    };
    await until('a commit to be held', () => proxy.counts.held > 0, { everyMs: 1 });
    const stoppedUs = await databaseNowUs(test.db);
    victim.child.signal('SIGSTOP');
    const tookMs = await resumedAfterMs(shards, stoppedUs);
    proxy.release();
    const fenced = await continueFenced(fencedBefore);
    await done();
    console.log(`two engines, commit on the wire: fences met by the zombie: ${fenced}`);
    expect(tookMs).toBeLessThan(RESUME_LIMIT_MS);
    await expectSound();
  });
});
