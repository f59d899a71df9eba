/**
 * A SCATTER of 1,000 and of 10,000 no-op items, end to end: one run, the real bridge and stream, a worker of this
 * process, the PostgreSQL of DUCTOR_TEST_DATABASE_URL (default: an embedded one). Time and WAL bytes an item; sizes take
 * turns, medians of the rounds. What grows with the length of the list would show as a ratio beyond 1.
 *
 * 2 cores that several other builds shared, Node 20, embedded PostgreSQL, two rounds each, 1,000 | 10,000 items:
 *   lists beyond 64 KiB (as here): 320, 210 | 161, 117 us and 40, 40 | 26, 23 B of WAL an item: x0.50 and x0.65
 *   lists of numbers, 49 KB at 10,000: 571, 234 | 266, 184 us and 35, 27 | 76, 74 B of WAL an item: x0.47 and x2.15
 * The second list stays just below what is stored apart, so that each snapshot holds it; rows are compressed to a third.
 *
 * Run: npx tsx bench/scatter.ts [rounds, default 3]
 */
import { createWorker, defineWorkflow, DuctorClient } from '@ductor/sdk';
import { z } from 'zod';
import { startTestNode } from '../engine/src/api/grpc/testing/test-node.js';
import { createTestDatabase } from '../engine/src/store/testing/index.js';

const ROUNDS = Number(process.argv[2] ?? 3);
const SIZES = [1_000, 10_000] as const;

const fanOut = defineWorkflow({
  slug: 'fan-out',
  input: z.object({ items: z.array(z.string()) }),
  build: (w) =>
    w.forEach('each', w.input.items, (item) => w.step('noop', { input: item, run: () => null }), { maxParallel: 200 })
      .counts,
});

interface Figure {
  readonly ms: number;
  readonly walBytes: number;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const database = await createTestDatabase();
const node = await startTestNode(database.db);
const { apiKey } = await node.tenant('bench');
const engine = { engine: node.address, apiKey };
const worker = createWorker({ ...engine, workflows: [fanOut], capacity: 200, handleSignals: false });
await worker.ready;
const client = new DuctorClient(engine);

async function walPosition(): Promise<bigint> {
  const { rows } = await database.db.query<{ at: string }>(
    `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as at`,
  );
  return BigInt(rows[0]?.at ?? 0);
}

async function once(count: number): Promise<Figure> {
  const items = Array.from({ length: count }, (_, index) => `lead-${index}`);
  const walBefore = await walPosition();
  const startedMs = performance.now();
  const handle = await client.trigger(fanOut, { items });
  const { completed } = await handle.result();
  const ms = performance.now() - startedMs;
  if (completed !== count) throw new RangeError(`${completed} of ${count} items completed`);
  return { ms, walBytes: Number((await walPosition()) - walBefore) };
}

const figures = new Map<number, Figure[]>(SIZES.map((size) => [size, []]));
await once(200);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const size of SIZES) {
    const figure = await once(size);
    figures.get(size)?.push(figure);
    const [us, wal] = [(figure.ms * 1000) / size, figure.walBytes / size];
    console.log(
      `round ${round + 1}, ${size} items: ${figure.ms.toFixed(0)} ms, ${us.toFixed(0)} us and ${wal.toFixed(0)} B of WAL an item`,
    );
  }
}
const each = SIZES.map((size) => {
  const all = figures.get(size) ?? [];
  return {
    us: (median(all.map(({ ms }) => ms)) * 1000) / size,
    wal: median(all.map(({ walBytes }) => walBytes)) / size,
  };
});
const [few, many] = each;
if (few !== undefined && many !== undefined) {
  console.log(
    `10,000 against 1,000: time an item x${(many.us / few.us).toFixed(2)}, WAL an item x${(many.wal / few.wal).toFixed(2)}`,
  );
}
client.close();
await worker.stop();
await node.stop();
await database.drop();
