/**
 * Three engines on one database and workers that reach one of them each: what the other engines own is carried out all
 * the same, by workers that the engines lend each other. Then the engine that lends is killed under load.
 */
import { join } from 'node:path';
import { DuctorClient } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { chainWorkflow, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import { balanced, databaseNowUs, firstTickAfter, shardsOf } from '../support/cluster.js';
import { type Engine, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { retrying, until } from '../support/wait.js';

const LEASE_MS = 5_000;
const RESUME_LIMIT_MS = LEASE_MS + 1_000;
const RUNS = 90;
const STEPS = 8;
const BODY_MS = 100;
/** Of the bodies that run when the engine is killed. */
const LONG_BODY_MS = 400;
const CAPACITY = 24;
/** A tick carries the time at which it was computed, by an estimate of database time. */
const CLOCK_MARGIN_US = 50_000;

const test = testDatabase();
cleanUpProcesses();

const chain = { slug: 'relay', steps: STEPS, marks: join(scratchFolder('marks'), 'marks.jsonl') };
const workflow = chainWorkflow({ ...chain, marks: '' });
const marks = new Marks(chain.marks);
let engines: readonly [Engine, Engine, Engine];
let clients: readonly DuctorClient[];
let apiKey: string;
/** Processes of workers. */
const pids: number[] = [];
let started = 0;

/** Starts a worker that reaches this engine alone. */
async function workerAt({ address, name }: Engine): Promise<void> {
  const named = { name: `worker at ${name}`, addresses: [address], apiKey };
  const { pid } = await startChainWorker({ ...chain, ...named, capacity: CAPACITY, allNodes: false });
  pids.push(pid);
}

/** Starts runs at all engines in turn; each starts them in its own shards. */
async function load(bodyMs: number): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: RUNS }, async (_, index) => {
      const name = `run-${(started += 1)}`;
      const client = clients[index % clients.length] ?? expect.fail('no client');
      const options = { idempotencyKey: name };
      return (await retrying(() => client.trigger(workflow, { name, bodyMs }, options))).id;
    }),
  );
}

/** A figure of an engine; 0 while it has none. */
async function figure({ address }: Engine, name: string): Promise<number> {
  const text = await (await fetch(`http://${address}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')
      .at(-1) ?? 0,
  );
}

/** Every run completed, every attempt has one outcome, every key was one step's. */
async function expectSound(): Promise<void> {
  const journal = await readJournal(test.db);
  expect(contradictions(journal)).toEqual([]);
  expect(journal.filter(({ closed }) => closed !== 'COMPLETED')).toEqual([]);
  expect(journal).toHaveLength(started);
  const { effects } = marks.read();
  expect(effects.size).toBe(started * STEPS);
  expect([...effects.values()].filter((steps) => steps.size !== 1)).toEqual([]);
}

beforeAll(async () => {
  ({ apiKey } = await developmentKey(test.db));
  const env = { DUCTOR_LEASE_MS: String(LEASE_MS) };
  const start = (name: string): Promise<Engine> => startEngine({ name, databaseUrl: test.url, env });
  engines = [await start('lender'), await start('second'), await start('third')];
  clients = engines.map(({ address }) => new DuctorClient({ engine: address, apiKey }));
  const addresses = engines.map(({ address }) => address);
  await balanced(test.db, addresses, 80);
  return () => clients.forEach((client) => client.close());
});

describe('a worker that reaches one of three engines', () => {
  it('carries out what all of them own', async () => {
    const [lender, second, third] = engines;
    await workerAt(lender);
    const ids = await load(BODY_MS);
    for (const [index, id] of ids.entries()) await clients[index % 3]?.run(id).result({ timeoutMs: 60_000 });
    await expectSound();
    const carried = await figure(lender, 'ductor_relayed_tasks_total{direction="out"}');
    const given = await Promise.all(
      [second, third].map((e) => figure(e, 'ductor_relayed_tasks_total{direction="in"}')),
    );
    console.log(`relay: of ${RUNS * STEPS} tasks the others gave ${given.join(' and ')} to the worker that was lent`);
    expect(Math.min(...given)).toBeGreaterThan(100);
    expect(carried).toBe(given.reduce((sum, one) => sum + one, 0));
    // Nothing was tried twice: every body of an attempt ran once.
    expect([...marks.beginnings.values()].filter((times) => times > 1)).toEqual([]);
  });

  it('is missed by the others when its engine is killed; they go on with the next one within a lease', async () => {
    const [lender, second, third] = engines;
    await workerAt(second);
    const ids = await load(LONG_BODY_MS);
    const isLent = async (): Promise<boolean> => (await figure(third, 'ductor_relays{direction="in"}')) > 0;
    await until('the third to have a worker', isLent, { everyMs: 50 });
    await until('bodies to run', () => marks.inFlight(pids) >= 2 * CAPACITY - 12, { everyMs: 5 });
    const [ofLender, ofThird] = [await shardsOf(test.db, lender.address), await shardsOf(test.db, third.address)];
    const killedUs = await databaseNowUs(test.db);
    await lender.kill();
    const afterMs = async (shards: readonly number[]): Promise<number> => {
      const find = (): Promise<number | undefined> => firstTickAfter(test.db, shards, killedUs + CLOCK_MARGIN_US);
      return ((await until('a tick', find, { limitMs: 30_000, everyMs: 10 })) - killedUs) / 1_000;
    };
    const [third1, lender1] = [await afterMs(ofThird), await afterMs(ofLender)];
    console.log(
      `relay: third went on after ${Math.round(third1)} ms, the killed one's after ${Math.round(lender1)} ms`,
    );
    expect(Math.max(third1, lender1)).toBeLessThan(RESUME_LIMIT_MS);
    for (const id of ids) await clients[1]?.run(id).result({ timeoutMs: 90_000 });
    await expectSound();
    expect(await figure(second, 'ductor_relayed_tasks_total{direction="out"}')).toBeGreaterThan(0);
  });
});
