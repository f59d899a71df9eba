/**
 * What sleeping runs cost: memory of the engine with none, 10,000 and all of them asleep, and by how much timers of
 * other runs are late beside them, 100 due each second for ten seconds. First all sleep beyond the engine's horizon, so
 * on disk; then as many more are due within it, so each has a timer in memory.
 *
 * The engine is a process of its own; worker and client are this one. The database is that of DUCTOR_TEST_DATABASE_URL
 * (default: an embedded server).
 *
 * Run: npx tsx bench/sleepers.ts [sleepers, default 100000]
 */
import { createWorker, defineWorkflow, DuctorClient } from '@ductor/sdk';
import { z } from 'zod';
import { quantile } from './peers/statistics.js';
import { serveNode, startNode } from './serve-node.js';

const SLEEPERS = Number(process.argv[2] ?? 100_000);
const FIRST = Math.min(SLEEPERS, 10_000);
const CALLERS = 64;
const DUE_PER_S = 100;
const DUE_S = 10;
/** Sleepers within the horizon of the engine (60 s) are due this long after the timers that are measured. */
const NEAR_MS = 45_000;
const FAR_MS = 24 * 3_600_000;

const sleeper = defineWorkflow({
  slug: 'sleeper',
  input: z.object({ due: z.string() }),
  build(w) {
    const slept = w.wait('nap', { until: w.input.due });
    return w.step('late', { after: slept, run: ({ due }) => Date.now() - Date.parse(due) }).output;
  },
});

/** Starts runs that sleep until then, and returns how many a second. */
async function start(client: DuctorClient, count: number, dueMs: number): Promise<number> {
  const due = new Date(dueMs).toISOString();
  const beganMs = performance.now();
  let left = count;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await client.trigger(sleeper, { due });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return (count * 1000) / (performance.now() - beganMs);
}

/** By how much runs are late that are due evenly over ten seconds. */
async function lateness(client: DuctorClient): Promise<string> {
  const fromMs = Date.now() + 5_000;
  const runs = Array.from({ length: DUE_PER_S * DUE_S }, async (_, index) => {
    const due = new Date(fromMs + (index * 1000) / DUE_PER_S).toISOString();
    return (await client.trigger(sleeper, { due })).result();
  });
  const late = await Promise.all(runs);
  const texts = [0.5, 0.99, 1].map((share) => quantile(late, share).toFixed(0));
  return `late p50 ${texts[0]} ms, p99 ${texts[1]} ms, at most ${texts[2]} ms`;
}

async function main(): Promise<void> {
  const node = await startNode<{ readonly address: string; readonly apiKey: string }>(import.meta.url);
  const { address, apiKey } = node.hello;
  const engine = { engine: address, apiKey };
  const quiet = { capacity: 1_000, handleSignals: false, log: () => undefined };
  const worker = createWorker({ ...engine, ...quiet, workflows: [sleeper] });
  await worker.ready;
  const client = new DuctorClient(engine);
  const say = async (what: string): Promise<void> => {
    const mib = (await node.usage()).rssBytes / 2 ** 20;
    console.log(`${what.padEnd(40)} ${mib.toFixed(0).padStart(5)} MiB  ${await lateness(client)}`);
  };
  await say('nobody asleep');
  const rates = [await start(client, FIRST, Date.now() + FAR_MS)];
  await say(`${FIRST} asleep for a day`);
  rates.push(await start(client, SLEEPERS - FIRST, Date.now() + FAR_MS));
  await say(`${SLEEPERS} asleep for a day`);
  console.log(`started ${rates.map((rate) => rate.toFixed(0)).join(' and ')} sleepers a second`);
  const dueMs = Date.now() + (SLEEPERS * 1000) / (rates[0] ?? 1) + NEAR_MS;
  await start(client, SLEEPERS, dueMs);
  await say(`${SLEEPERS} more, due within a minute`);
  client.close();
  await worker.stop();
  node.end();
}

if (process.argv[2] === 'serve') {
  await serveNode(async (node) => ({ apiKey: (await node.tenant('bench')).apiKey }));
} else {
  await main();
}
