/**
 * A backup is taken under load, and restored where nothing of the old deployment is. A new engine goes on there: what
 * was acknowledged before the backup is there and ends, runs that sleep wake up, keys of starts and of steps are the
 * same, and the engine of the old deployment, whose lease is in the backup, owns nothing.
 */
import { join } from 'node:path';
import { DuctorClient } from '@ductor/sdk';
import { afterAll, describe, expect, it } from 'vitest';
import type { DefinitionJson } from '../../sdk/src/workflow/definition-json.js';
import { migrate, openDatabase, startEmbeddedPostgres, type Database } from '../../engine/src/store/index.js';
import { fastFolder } from '../../engine/src/store/testing/fast-folder.js';
import { seedDataDir } from '../../engine/src/store/testing/seed-data.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { Api } from '../support/api.js';
import { developmentKey } from '../support/api-key.js';
import { baseBackup, dump, pgDumpVersion, type Restore, serverVersion } from '../support/backup.js';
import { chainWorkflow, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import { killChildren } from '../support/child.js';
import { balanced, shardsOf } from '../support/cluster.js';
import { discardEngines, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { retrying, sleep, until } from '../support/wait.js';

const LEASE_MS = 2_000;
const STEPS = 4;
const BODY_MS = 150;
const FEEDERS = 6;
const SLEEPERS = 5;
const SLEEP_MS = 15_000;
const SHARDS = 256;
/** Says of a machine of ours that the tools for dumps are there. */
const TOOLS_VARIABLE = 'DUCTOR_TEST_PG_DUMP';

const SLEEPER: DefinitionJson = {
  family_slug: 'sleeper',
  title: 'Sleeper',
  steps: [{ ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: `${SLEEP_MS}ms` } }],
  edges: [],
};

// Hooks run last first: processes end, then servers and pools, then databases go.
const test = testDatabase();
const restoredTo = testDatabase({ isMigrated: false });
/** Servers and pools, the last one first. */
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});
cleanUpProcesses();

/** A database with an engine and a worker, and starts that are kept up. */
class Deployment {
  /** Ids of acknowledged runs, by their names. */
  readonly acknowledged = new Map<string, string>();
  #isOver = false;
  #feeders: Promise<void>[] = [];

  private constructor(
    readonly db: Database,
    readonly address: string,
    readonly apiKey: string,
    readonly marks: Marks,
    readonly client: DuctorClient,
  ) {}

  static async start(name: string, url: string, apiKey: string): Promise<Deployment> {
    const db = openDatabase({ url, applicationName: 'ductor test' });
    closing.push(() => db.close());
    const env = { DUCTOR_LEASE_MS: String(LEASE_MS) };
    const { address } = await startEngine({ name: `engine ${name}`, databaseUrl: url, env });
    await balanced(db, [address], SHARDS);
    const chain = { slug: 'backup', steps: STEPS, marks: join(scratchFolder('marks'), 'marks.jsonl') };
    await startChainWorker({ ...chain, name: `worker ${name}`, addresses: [address], apiKey, capacity: 40 });
    const client = new DuctorClient({ engine: address, apiKey });
    closing.push(() => client.close());
    return new Deployment(db, address, apiKey, new Marks(chain.marks), client);
  }

  /** Starts a run under its name as the key; the same name again gives the same run. */
  async trigger(name: string): Promise<string> {
    const workflow = chainWorkflow({ slug: 'backup', steps: STEPS, marks: '' });
    const start = (): Promise<{ readonly id: string }> =>
      this.client.trigger(workflow, { name, bodyMs: BODY_MS }, { idempotencyKey: name });
    return (await retrying(start)).id;
  }

  feed(): void {
    const one = async (feeder: number): Promise<void> => {
      for (let turn = 0; !this.#isOver; turn += 1) {
        const name = `run-${feeder}-${turn}`;
        this.acknowledged.set(name, await this.trigger(name));
        await sleep(50);
      }
    };
    this.#feeders = Array.from({ length: FEEDERS }, (_, feeder) => one(feeder));
  }

  async endFeeding(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#feeders);
  }

  async allEnded(): Promise<void> {
    await until(
      'all runs to end',
      async () => {
        const { rows } = await this.db.query('select 1 from ductor.runs where closed_at is null limit 1');
        return rows.length === 0;
      },
      { limitMs: 90_000, everyMs: 100 },
    );
  }
}

/** Loads, backs up, loses everything, restores, goes on, and judges it; how many runs had been acknowledged before. */
async function survives(url: string, db: Database, backUp: () => Promise<Restore>): Promise<number> {
  const { apiKey } = await developmentKey(db);
  const old = await Deployment.start('old', url, apiKey);
  const api = new Api(old);
  await api.publishWorkflow((await api.createWorkflow(SLEEPER)).id);
  const sleepers = await Promise.all(Array.from({ length: SLEEPERS }, () => api.triggerRun('sleeper')));
  old.feed();
  await until('steps to end', () => old.marks.read().counts.ended > FEEDERS * STEPS);
  const before = new Map(old.acknowledged);
  const restore = await backUp();
  const count = old.acknowledged.size;
  await until('more starts', () => old.acknowledged.size > count + FEEDERS);
  await old.endFeeding();
  await killChildren();
  await discardEngines();

  const restored = await restore();
  closing.push(() => restored.close());
  const snapshot = openDatabase({ url: restored.url, applicationName: 'ductor test' });
  const there = new Set((await readJournal(snapshot)).map(({ runId }) => runId));
  await snapshot.close();
  expect([...before].filter(([, runId]) => !there.has(runId))).toEqual([]);
  expect(sleepers.filter(({ id }) => !there.has(id))).toEqual([]);

  const young = await Deployment.start('young', restored.url, apiKey);
  expect(await shardsOf(young.db, old.address)).toEqual([]);
  // Whoever was acknowledged something asks once more, as after any disaster: what is there is not done again.
  const again = new Map<string, string>();
  for (const [name, runId] of old.acknowledged) {
    const id = await young.trigger(name);
    again.set(name, id);
    if (there.has(runId)) expect(id).toBe(runId);
  }
  await young.allEnded();
  const journal = await readJournal(young.db);
  expect(contradictions(journal)).toEqual([]);
  expect(journal.filter(({ closed }) => closed !== 'COMPLETED')).toEqual([]);
  expect(journal).toHaveLength(new Set(again.values()).size + SLEEPERS);
  const woken = await Promise.all(sleepers.map(({ id }) => new Api(young).getRun(id)));
  const sleptMs = woken.map(({ startedAt, closedAt }) => millis(closedAt) - millis(startedAt));
  expect(Math.min(...sleptMs)).toBeGreaterThanOrEqual(SLEEP_MS);
  expect(stepsWithTwoKeys(old, young, again)).toEqual([]);
  const lost = [...old.acknowledged.values()].filter((runId) => !there.has(runId)).length;
  console.log(
    `backup: ${before.size} runs acknowledged before it, ${there.size} in it, ${lost} acknowledged after it and ` +
      `started again; ${young.marks.counts.begun} bodies after the restore`,
  );
  return before.size;
}

/** A time of the contract, ms; 0: none. */
function millis(time: { readonly seconds: bigint; readonly nanos: number } | undefined): number {
  return time === undefined ? 0 : Number(time.seconds) * 1_000 + time.nanos / 1_000_000;
}

/** Steps of runs that are the same before and after, which got another key than they had. */
function stepsWithTwoKeys(old: Deployment, young: Deployment, again: ReadonlyMap<string, string>): readonly string[] {
  const keys = new Map<string, Set<string>>();
  for (const { marks } of [old, young]) {
    for (const [key, steps] of marks.read().effects) {
      for (const step of steps) keys.set(step, (keys.get(step) ?? new Set()).add(key));
    }
  }
  return [...keys]
    .filter(([step, own]) => {
      const name = step.split('/')[0] ?? '';
      return own.size > 1 && again.get(name) === old.acknowledged.get(name);
    })
    .map(([step]) => step);
}

describe('a backup that is taken under load', () => {
  it('as a base backup, restored on a server of its own', async () => {
    const dataDir = scratchFolder('backed-up', fastFolder());
    await seedDataDir(dataDir);
    const server = await startEmbeddedPostgres({ dataDir });
    closing.push(() => server.stop());
    await migrate({ url: server.url });
    const db = openDatabase({ url: server.url, applicationName: 'ductor test' });
    closing.push(() => db.close());
    expect(await survives(server.url, db, () => baseBackup(server.url, dataDir))).toBeGreaterThan(0);
  });

  it('as a dump of the schema, restored into an empty database', async ({ skip }) => {
    const [tool, server] = [pgDumpVersion(), await serverVersion(test.url)];
    if (process.env[TOOLS_VARIABLE] === 'required') expect(tool).toBeGreaterThanOrEqual(server);
    if (tool < server) skip(`pg_dump ${tool === 0 ? 'is not here' : tool} and the server is PostgreSQL ${server}`);
    expect(await survives(test.url, test.db, () => dump(test.url, restoredTo.url))).toBeGreaterThan(0);
  });
});
