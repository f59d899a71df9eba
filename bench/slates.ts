/**
 * Slates of three: how many a second are admitted whole, shown, and released again by the end of the run that holds
 * them; refused ones counted apart. One pool of few recipients, so that all go through the same locks; each slate is a
 * run of a workflow of one SELECT step, with its start, journal and end.
 *
 * The engine is a process of its own, the client is this one; the database is that of DUCTOR_TEST_DATABASE_URL
 * (default: an embedded one). `us` is processor time of the engine for a run.
 *
 * Run: npx tsx bench/slates.ts [seconds for each figure, default 4]
 */
import { createWorker, defineWorkflow, DuctorClient, RunFailedError } from '@ductor/sdk';
import { z } from 'zod';
import { bearer, httpCall } from '../engine/src/api/testing/http-call.js';
import { quantile } from './peers/statistics.js';
import { serveNode, startNode } from './serve-node.js';

const SECONDS = Number(process.argv[2] ?? 4);
const WARM_S = 1;
const RECIPIENTS = 8;
const IN_FLIGHT = [1, 64, 256];
/** Room of a recipient: nobody is refused, and most are. */
const LIMITS = [0, 8];

const workflows = LIMITS.map((limit) =>
  defineWorkflow({
    slug: `slate-${limit}`,
    input: z.object({}),
    build: (w) => w.select('slate', { pool: `limit-${limit}`, slate: 3, atLeast: 3 }).output,
  }),
);

interface Server {
  readonly address: string;
  readonly apiKey: string;
}

async function post({ address, apiKey }: Server, path: string, body: object): Promise<string> {
  const headers = { ...bearer(apiKey), 'content-type': 'application/json' };
  const { status, json } = await httpCall(address, { method: 'POST', path, headers, body: JSON.stringify(body) });
  if (status !== 200) throw new RangeError(JSON.stringify(json));
  return (json as { data: { id: string } }).data.id;
}

async function makePool(server: Server, limit: number): Promise<void> {
  const poolId = await post(server, '/api/pools', { name: `limit-${limit}`, strategy: 'least_loaded' });
  for (let index = 0; index < RECIPIENTS; index += 1) {
    const member = { name: `r${limit}-${index}`, state: 'RECIPIENT_STATE_AVAILABLE' };
    await post(server, `/api/pools/${poolId}/recipients`, { ...member, capacity: { max_concurrent: limit } });
  }
}

/** Calls again and again, so many at once; counts what came of it, and how long each took. */
async function load(client: DuctorClient, place: number, inFlight: number, seconds: number) {
  const workflow = workflows[place] ?? workflows[0];
  if (workflow === undefined) throw new RangeError('no workflow');
  const endMs = performance.now() + seconds * 1000;
  const tookMs: number[] = [];
  let [granted, refused] = [0, 0];
  const caller = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const beganMs = performance.now();
      try {
        await (await client.trigger(workflow, {})).result();
        granted += 1;
      } catch (error) {
        if (!(error instanceof RunFailedError) || error.code !== 'recipient_capacity_exhausted') throw error;
        refused += 1;
      }
      tookMs.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return { granted, refused, tookMs };
}

async function main(): Promise<void> {
  const node = await startNode<Server>(import.meta.url);
  const server = node.hello;
  for (const limit of LIMITS) await makePool(server, limit);
  const engine = { engine: server.address, apiKey: server.apiKey };
  const worker = createWorker({ ...engine, workflows, capacity: 1, handleSignals: false, log: () => undefined });
  await worker.ready;
  const client = new DuctorClient(engine);
  for (const [place, limit] of LIMITS.entries()) {
    for (const inFlight of IN_FLIGHT) {
      await load(client, place, inFlight, WARM_S);
      const { cpuUs: beforeUs } = await node.usage();
      const { granted, refused, tookMs } = await load(client, place, inFlight, SECONDS);
      const us = ((await node.usage()).cpuUs - beforeUs) / (granted + refused);
      const rates = [granted, refused].map((count) => Math.round(count / SECONDS));
      const [p50, p99] = [0.5, 0.99].map((share) => quantile(tookMs, share).toFixed(1));
      const times = `p50 ${p50} ms, p99 ${p99} ms, ${us.toFixed(0)} us`;
      const head = `room ${limit === 0 ? 'without end' : limit}, ${inFlight} in flight:`.padEnd(36);
      console.log(`${head}${rates[0]} granted and released /s, ${rates[1]} refused /s, ${times}`);
    }
  }
  client.close();
  await worker.stop();
  node.end();
}

if (process.argv[2] === 'serve') {
  await serveNode(async (node) => ({ apiKey: (await node.tenant('bench')).apiKey }));
} else {
  await main();
}
