/**
 * Claims: 16 claimers and one queue in which work waits without end, all of it offered to all of them. Each looks at
 * the 50 that wait longest and goes through them in an order of its own, as a page full of work is gone through: some
 * it gets, for some another one was first. Then the same with items that nobody else wants. Work is put in before the
 * measured seconds, so that only claims are measured. What a bare read of an item comes to stands beside it: on a busy
 * machine both wait for their turn.
 *
 * The engine is a process of its own, the clients are this one, over gRPC; the database is that of
 * DUCTOR_TEST_DATABASE_URL (default: an embedded one). `us` is processor time of the engine for an item that is claimed
 * and completed, with the claims that came too late and the lists. A double is an item that two claims were granted of.
 *
 * Run: npx tsx bench/claims.ts [seconds, default 4]
 */
import { DuctorClient, DuctorError, RecipientState } from '@ductor/sdk';
import { quantile } from './peers/statistics.js';
import { serveNode, startNode } from './serve-node.js';

const SECONDS = Number(process.argv[2] ?? 4);
const WARM_S = 1;
const CLAIMERS = 16;
/** Items that a claimer looks at in one go. */
const LOOK = 50;
/** Works that are routed at once. */
const MANY = 200;
const WAYS = ['the same items', 'items of its own'] as const;

interface Server {
  readonly address: string;
  readonly apiKey: string;
}

interface Pond {
  readonly queueId: string;
  readonly poolId: string;
  readonly recipientIds: readonly string[];
}

async function makePond(client: DuctorClient, name: string): Promise<Pond> {
  const { id: queueId } = await client.claims.queues.create({ name });
  const budget = { maxClaims: 10_000, period: { fixed: 'day', timezone: 'America/Chicago' }, maxOpen: 4 };
  const config = { routingMode: 'claim', claimQueueId: queueId, claim: { claimTtl: '6h', budget } };
  const { id: poolId } = await client.pools.create({ name, config });
  const recipientIds: string[] = [];
  for (let index = 0; index < CLAIMERS; index += 1) {
    const state = RecipientState.RECIPIENT_STATE_AVAILABLE;
    const fields = { name: `r${index}`, state, capacity: { maxConcurrent: 4 } };
    recipientIds.push((await client.recipients.create(poolId, fields)).id);
  }
  return { queueId, poolId, recipientIds };
}

/** Puts so many works in the queue; ids of their items. */
async function fill(client: DuctorClient, { poolId }: Pond, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const works = Array.from({ length: MANY }, (_, index) => ({ work: { id: `lead-${ids.length + index}` }, poolId }));
    for (const each of await client.routing.routeMany(works)) {
      if (each.error !== undefined) throw new DuctorError(each.error.code, each.error.message);
      ids.push(each.decision.id);
    }
  }
  return ids;
}

class Load {
  readonly tookMs: number[] = [];
  readonly granted: string[] = [];
  late = 0;
  lists = 0;

  constructor(
    readonly client: DuctorClient,
    readonly pond: Pond,
    readonly endMs: number,
  ) {}

  /** Claims the item and says that it is done; how long both took. */
  async one(itemId: string, recipientId: string): Promise<void> {
    const beganMs = performance.now();
    try {
      await this.client.claims.claim(itemId, recipientId);
    } catch (error) {
      if (!(error instanceof DuctorError) || error.code !== 'claim_rescinded') throw error;
      this.late += 1;
      return;
    }
    this.granted.push(itemId);
    await this.client.claims.complete(itemId, recipientId);
    this.tookMs.push(performance.now() - beganMs);
  }

  /** Looks for work like everybody else. */
  async looking(recipientId: string): Promise<void> {
    while (performance.now() < this.endMs) {
      const options = { state: 'OPEN', recipientId, pageSize: LOOK } as const;
      const { items } = await this.client.claims.list(this.pond.queueId, options);
      this.lists += 1;
      if (items.length === 0) throw new RangeError('the queue has run dry: put more work in it');
      const drawn = items.map(({ id }) => [Math.random(), id] as const);
      for (const [, id] of drawn.toSorted(([a], [b]) => a - b)) {
        if (performance.now() >= this.endMs) return;
        await this.one(id, recipientId);
      }
    }
  }

  /** Takes items that nobody else wants. */
  async alone(recipientId: string, itemIds: readonly string[]): Promise<void> {
    for (const id of itemIds) {
      if (performance.now() >= this.endMs) return;
      await this.one(id, recipientId);
    }
    throw new RangeError('there was no work left: put more of it in the queue');
  }
}

async function load(client: DuctorClient, pond: Pond, way: (typeof WAYS)[number], items: readonly string[], s: number) {
  const run = new Load(client, pond, performance.now() + s * 1000);
  await Promise.all(
    pond.recipientIds.map((id, place) => {
      const own = items.filter((_, index) => index % CLAIMERS === place);
      return way === 'the same items' ? run.looking(id) : run.alone(id, own);
    }),
  );
  return run;
}

/** Reads of one item, as many at once; says how many a second. */
async function reads(client: DuctorClient, itemId: string): Promise<number> {
  const endMs = performance.now() + SECONDS * 1000;
  let count = 0;
  const reader = async (): Promise<void> => {
    for (; performance.now() < endMs; count += 1) await client.claims.get(itemId);
  };
  await Promise.all(Array.from({ length: CLAIMERS }, reader));
  return Math.round(count / SECONDS);
}

async function main(): Promise<void> {
  const node = await startNode<Server>(import.meta.url);
  const client = new DuctorClient({ engine: node.hello.address, apiKey: node.hello.apiKey });
  for (const way of WAYS) {
    const pond = await makePond(client, way.replaceAll(' ', '-'));
    const warm = await load(client, pond, way, await fill(client, pond, Math.ceil(1000 * WARM_S)), WARM_S);
    const items = await fill(client, pond, Math.ceil((warm.granted.length / WARM_S) * SECONDS * 3) + 1000);
    const { cpuUs: beforeUs } = await node.usage();
    const run = await load(client, pond, way, items, SECONDS);
    const count = run.granted.length;
    const us = ((await node.usage()).cpuUs - beforeUs) / count;
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(run.tookMs, share).toFixed(1));
    const all = [...warm.granted, ...run.granted];
    const doubles = all.length - new Set(all).size;
    const rates = [count, run.late, run.lists].map((each) => Math.round(each / SECONDS));
    const figures = `${rates[0]} claimed and completed /s, p50 ${p50} ms, p99 ${p99} ms, ${us.toFixed(0)} us`;
    console.log(`${way}: ${figures}; ${rates[1]} too late /s, ${rates[2]} lists /s, ${doubles} doubles`);
    console.log(`  ${await reads(client, items[0] ?? '')} reads of an item /s, as many in flight`);
    if (doubles > 0) throw new RangeError(`${doubles} items were claimed twice`);
  }
  client.close();
  node.end();
}

if (process.argv[2] === 'serve') {
  await serveNode(async (node) => ({ apiKey: (await node.tenant('bench')).apiKey }));
} else {
  await main();
}
