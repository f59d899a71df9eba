/**
 * Two engines that give each other hints over Redis, which is killed under load, stays away and comes back: it costs
 * latency and nothing else. Signals go through the node that does not run the run, so each of them needs a hint or a
 * look into the mailbox.
 */
import { join } from 'node:path';
import { createWorker, defineWorkflow, DuctorClient } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { hasRedis, TestRedis } from '../../engine/src/bus/testing/redis-server.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { chainWorkflow, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import { balanced } from '../support/cluster.js';
import { type Engine, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { retrying, sleep, until } from '../support/wait.js';

const RUNS = 80;
const WAITERS = 40;
const AWAY_MS = 3_000;

const test = testDatabase();
cleanUpProcesses();

const chain = { slug: 'redis-lost', steps: 8, marks: join(scratchFolder('marks'), 'marks.jsonl') };
const work = chainWorkflow({ ...chain, marks: '' });
const wait = defineWorkflow({
  slug: 'redis-lost-waits',
  input: z.object({ number: z.number() }),
  build(w) {
    return w.signal('go', { schema: z.object({ number: z.number() }) }).output;
  },
});

let redis: TestRedis;
let engines: readonly Engine[];
let workerPid: number;
let clients: readonly [DuctorClient, DuctorClient];

/** Starts so many of a kind, half of them at each node; answers their ids. */
function startAll(count: number, start: (client: DuctorClient, number: number) => Promise<{ readonly id: string }>) {
  return Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const client = clients[number % 2 === 0 ? 0 : 1];
      return (await retrying(() => start(client, number))).id;
    }),
  );
}

describe.runIf(hasRedis)('Redis lost under load', () => {
  beforeAll(async () => {
    redis = await TestRedis.start();
    const { apiKey } = await developmentKey(test.db);
    const env = { REDIS_URL: redis.url };
    const one = await startEngine({ name: 'one', databaseUrl: test.url, env });
    const two = await startEngine({ name: 'two', databaseUrl: test.url, env });
    engines = [one, two];
    const addresses = [one.address, two.address];
    const worker = await startChainWorker({ ...chain, name: 'worker', addresses, apiKey, capacity: 40 });
    workerPid = worker.pid;
    clients = [new DuctorClient({ engine: one.address, apiKey }), new DuctorClient({ engine: two.address, apiKey })];
    const publisher = createWorker({ workflows: [wait], engine: one.address, apiKey });
    await publisher.ready;
    await balanced(test.db, addresses, 100);
    return async () => {
      await publisher.stop();
      for (const client of clients) client.close();
      await redis.stop();
    };
  });

  it('loses nothing and does nothing twice', async () => {
    const waiting = await startAll(WAITERS, (client, number) =>
      client.trigger(wait, { number }, { idempotencyKey: `wait-${number}` }),
    );
    const working = await startAll(RUNS, (client, number) =>
      client.trigger(work, { name: `run-${number}`, bodyMs: 100 }, { idempotencyKey: `run-${number}` }),
    );
    const marks = new Marks(chain.marks);
    await until('the worker to be busy', () => marks.inFlight([workerPid]) >= 20, { everyMs: 5 });
    await redis.stop();
    for (const [number, id] of waiting.entries()) {
      const [, other] = number % 2 === 0 ? clients : [clients[1], clients[0]];
      await other.run(id).signal('go', { number }, { id: `go-${number}` });
      if (number === WAITERS / 2) {
        await sleep(AWAY_MS);
        await redis.restart();
      }
    }
    for (const [number, id] of waiting.entries()) {
      expect(await clients[0].run(id).result({ timeoutMs: 60_000 })).toEqual({ number });
    }
    for (const id of working) await clients[1].run(id).result({ timeoutMs: 60_000 });
    // They had it, and noticed.
    for (const engine of engines)
      expect(engine.child.output).toContain('the connection of the bus that hears was lost');
    const journal = await readJournal(test.db);
    expect(contradictions(journal)).toEqual([]);
    expect(journal.map(({ closed }) => closed)).toEqual(Array.from({ length: RUNS + WAITERS }, () => 'COMPLETED'));
  });
});
