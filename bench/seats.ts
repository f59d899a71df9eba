/**
 * Choices of account seats a second: by PoolManager in this process, and by the engine, committed and with a record. An
 * owner that has its seat, and new owners that get one in turn by weight; 12 seats in one pool.
 *
 * The engine is a process of its own, the client is this one; the database is that of DUCTOR_TEST_DATABASE_URL
 * (default: an embedded one). `us` is processor time for a choice: of the engine, or of PoolManager.
 *
 * Run: npx tsx bench/seats.ts [seconds for each figure, default 4]
 */
import { DuctorClient, PoolManager, RecipientState } from '@ductor/sdk';
import { quantile } from './peers/statistics.js';
import { serveNode, startNode } from './serve-node.js';

const SECONDS = Number(process.argv[2] ?? 4);
const WARM_S = 1;
const SEATS = 12;
const IN_FLIGHT = [1, 64, 256];
/** Owners that have their seats; undefined: each choice is one of a new owner. */
const OWNERS = [64, undefined];
/** Owners after which a manager in process begins anew: in a service runs end. */
const MANY_OWNERS = 10_000;

const nameOf = (owners: number | undefined): string => (owners === undefined ? 'new owners' : `${owners} owners`);

function inProcess(owners: number | undefined): void {
  const items = Array.from({ length: SEATS }, (_, index) => ({ id: `seat ${index}`, weight: 1 + (index % 4) }));
  const pool = { poolId: 'seats', strategy: 'smooth-weighted-round-robin' as const, items };
  let manager = new PoolManager();
  let count = 0;
  const endMs = performance.now() + SECONDS * 1000;
  const before = process.cpuUsage();
  while (performance.now() < endMs) {
    for (let each = 0; each < 100; each += 1) {
      manager.selectSeat(pool, `run ${owners === undefined ? count : count % owners}`, 0);
      count += 1;
    }
    if (owners === undefined && count % MANY_OWNERS === 0) manager = new PoolManager();
  }
  const { user, system } = process.cpuUsage(before);
  const rate = Math.round(count / SECONDS);
  console.log(`in process, ${nameOf(owners)}:`.padEnd(40) + `${rate} /s, ${((user + system) / count).toFixed(2)} us`);
}

interface Server {
  readonly address: string;
  readonly apiKey: string;
}

async function makePool(client: DuctorClient): Promise<string> {
  const { id } = await client.pools.create({ name: 'seats', config: { recipe: { name: 'seat_pool' } } });
  for (let index = 0; index < SEATS; index += 1) {
    const about = { name: `seat ${index}`, type: 'account_seat', weight: 1 + (index % 4) };
    await client.recipients.create(id, { ...about, state: RecipientState.RECIPIENT_STATE_AVAILABLE });
  }
  return id;
}

let made = 0;

/** Routes again and again, so many at once; how long each took. */
async function load(client: DuctorClient, poolId: string, owners: number | undefined, inFlight: number, s: number) {
  const endMs = performance.now() + s * 1000;
  const tookMs: number[] = [];
  const caller = async (): Promise<void> => {
    while (performance.now() < endMs) {
      made += 1;
      const beganMs = performance.now();
      const { outcome } = await client.routing.route({ id: `run ${owners ? made % owners : made}` }, { poolId });
      if (outcome !== 'assigned') throw new RangeError(outcome);
      tookMs.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return tookMs;
}

async function main(): Promise<void> {
  for (const owners of OWNERS) inProcess(owners);
  const node = await startNode<Server>(import.meta.url);
  const server = node.hello;
  const client = new DuctorClient({ engine: server.address, apiKey: server.apiKey });
  const poolId = await makePool(client);
  for (const owners of OWNERS) {
    for (const inFlight of IN_FLIGHT) {
      await load(client, poolId, owners, inFlight, WARM_S);
      const { cpuUs: beforeUs } = await node.usage();
      const tookMs = await load(client, poolId, owners, inFlight, SECONDS);
      const us = ((await node.usage()).cpuUs - beforeUs) / tookMs.length;
      const [p50, p99] = [0.5, 0.99].map((share) => quantile(tookMs, share).toFixed(1));
      const head = `committed, ${nameOf(owners)}, ${inFlight} in flight:`.padEnd(40);
      console.log(
        `${head}${Math.round(tookMs.length / SECONDS)} /s, p50 ${p50} ms, p99 ${p99} ms, ${us.toFixed(0)} us`,
      );
    }
  }
  client.close();
  node.end();
}

if (process.argv[2] === 'serve') {
  await serveNode(async (node) => ({ apiKey: (await node.tenant('bench')).apiKey }));
} else {
  await main();
}
