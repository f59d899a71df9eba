/**
 * What a million finished runs cost: pages of lists by every documented filter, and how many runs a second an engine
 * starts and completes on a database that holds them against an empty one, in turns (ABAB), medians.
 *
 * The databases are those of DUCTOR_TEST_DATABASE_URL (default: an embedded server).
 *
 * Run: npx tsx bench/growth.ts [runs, default 1000000] [rounds, default 5] [runs of a round, default 1000]
 */
import { createWorker, defineWorkflow, DuctorClient, type ListOptions } from '@ductor/sdk';
import { z } from 'zod';
import { startTestNode } from '../engine/src/api/grpc/testing/test-node.js';
import { createTestDatabase } from '../engine/src/store/testing/index.js';
import { seedRuns } from '../test/support/seed-runs.js';

const SEEDED = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const ROUND_RUNS = Number(process.argv[4] ?? 1_000);
const PAGES = 20;

const noop = defineWorkflow({
  slug: 'noop',
  input: z.object({ n: z.number() }),
  build: (w) => w.step('noop', { input: w.input, run: () => null }).output,
});

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

/** An engine on a database of its own, with a worker and a client. */
async function place(seeded: number) {
  const database = await createTestDatabase();
  const node = await startTestNode(database.db);
  const { apiKey, tenantId } = await node.tenant('bench');
  const engine = { engine: node.address, apiKey };
  if (seeded > 0) {
    const beganMs = performance.now();
    await seedRuns(database.db, tenantId, seeded);
    console.log(`seeded ${seeded} runs in ${((performance.now() - beganMs) / 1_000).toFixed(0)} s`);
  }
  const worker = createWorker({
    ...engine,
    workflows: [noop],
    capacity: 100,
    handleSignals: false,
    log: () => undefined,
  });
  await worker.ready;
  const client = new DuctorClient(engine);
  return {
    client,
    /** Runs a second, from the first trigger to the last result. */
    async round(): Promise<number> {
      const beganMs = performance.now();
      const runs = Array.from({ length: ROUND_RUNS }, async (_, n) => (await client.trigger(noop, { n })).result());
      await Promise.all(runs);
      return (ROUND_RUNS * 1_000) / (performance.now() - beganMs);
    },
    async close() {
      client.close();
      await worker.stop();
      await node.stop();
      await database.drop();
    },
  };
}

const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);
const FILTERS: Readonly<Record<string, ListOptions>> = {
  none: {},
  workflow: { workflow: 'seeded-3' },
  'state COMPLETED': { state: 'COMPLETED' },
  'state FAILED, 1 of 1,000': { state: 'FAILED' },
  'state PARKED, 1 of 100,000': { state: 'PARKED' },
  'state RUNNING, none': { state: 'RUNNING' },
  'started within an hour': { startedAfter: hoursAgo(2), startedBefore: hoursAgo(1) },
  'attribute, 1 of 10,000': { attributes: { customer: '77' } },
  'workflow and state FAILED': { workflow: 'seeded-3', state: 'FAILED' },
};

const [empty, full] = [await place(0), await place(SEEDED)];
for (const [name, filter] of Object.entries(FILTERS)) {
  const tookMs: number[] = [];
  for (let page = 0; page < PAGES; page += 1) {
    const beganMs = performance.now();
    await full.client.list({ pageSize: 50, ...filter });
    tookMs.push(performance.now() - beganMs);
  }
  console.log(`${name}: median ${percentile(tookMs, 0.5).toFixed(1)} ms, most ${Math.max(...tookMs).toFixed(1)} ms`);
}
await empty.round();
await full.round();
const rates: { readonly a: number; readonly b: number }[] = [];
for (let round = 0; round < ROUNDS; round += 1) rates.push({ a: await empty.round(), b: await full.round() });
const [a, b] = [
  percentile(
    rates.map((rate) => rate.a),
    0.5,
  ),
  percentile(
    rates.map((rate) => rate.b),
    0.5,
  ),
];
console.log(`runs a second: empty ${a.toFixed(0)}, full ${b.toFixed(0)} (x${(b / a).toFixed(2)})`);
await empty.close();
await full.close();
