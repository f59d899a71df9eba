/**
 * A SCATTER of 1,000 and of 10,000 no-op items, end to end: one run, the real bridge and stream, a worker of this
 * process, the PostgreSQL of DUCTOR_TEST_DATABASE_URL (default: an embedded one). Time and WAL bytes an item; sizes
 * take turns, medians of the rounds. What grows with the length of the list would show as a ratio beyond 1.
 *
 * Two forms of list, because they are kept in different ways: texts, at 10,000 items beyond the 64 KiB from which
 * values are stored apart, and numbers, at 10,000 items 49 KB, just below: in the run's row, apart from its snapshots.
 *
 * 2 cores shared with other builds (load 8), Node 20, embedded PostgreSQL, five rounds, medians, 1,000 | 10,000 items:
 *   texts:   159 | 146 us an item (x0.92), 32 | 23 B of WAL an item (x0.72)
 *   numbers: 127 | 128 us an item (x1.01), 27 | 30 B of WAL an item (x1.14)
 * With lists below 64 KiB in each snapshot numbers took x2.77 of the WAL.
 *
 * Run: npx tsx bench/scatter.ts [rounds, default 3]
 */
import { createWorker, defineWorkflow, DuctorClient } from '@ductor/sdk';
import { z } from 'zod';
import { startTestNode } from '../engine/src/api/grpc/testing/test-node.js';
import { createTestDatabase } from '../engine/src/store/testing/index.js';

const ROUNDS = Number(process.argv[2] ?? 3);
const SIZES = [1_000, 10_000] as const;

const ofTexts = defineWorkflow({
  slug: 'fan-out-texts',
  input: z.object({ items: z.array(z.string()) }),
  build: (w) =>
    w.forEach('each', w.input.items, (item) => w.step('noop', { input: item, run: () => null }), { maxParallel: 200 })
      .counts,
});
const ofNumbers = defineWorkflow({
  slug: 'fan-out-numbers',
  input: z.object({ items: z.array(z.number()) }),
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
const worker = createWorker({ ...engine, workflows: [ofTexts, ofNumbers], capacity: 200, handleSignals: false });
await worker.ready;
const client = new DuctorClient(engine);

async function walPosition(): Promise<bigint> {
  const { rows } = await database.db.query<{ at: string }>(
    `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as at`,
  );
  return BigInt(rows[0]?.at ?? 0);
}

const FORMS = {
  texts: async (count: number) =>
    await client.trigger(ofTexts, { items: Array.from({ length: count }, (_, index) => `lead-${index}`) }),
  numbers: async (count: number) =>
    await client.trigger(ofNumbers, { items: Array.from({ length: count }, (_, index) => index) }),
};

async function once(form: keyof typeof FORMS, count: number): Promise<Figure> {
  const walBefore = await walPosition();
  const startedMs = performance.now();
  const handle = await FORMS[form](count);
  const { completed } = await handle.result();
  const ms = performance.now() - startedMs;
  if (completed !== count) throw new RangeError(`${completed} of ${count} items completed`);
  return { ms, walBytes: Number((await walPosition()) - walBefore) };
}

async function measure(form: keyof typeof FORMS): Promise<void> {
  const figures = new Map<number, Figure[]>(SIZES.map((size) => [size, []]));
  await once(form, 200);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const size of SIZES) {
      const figure = await once(form, size);
      figures.get(size)?.push(figure);
      const [us, wal] = [(figure.ms * 1000) / size, figure.walBytes / size];
      const text = `${figure.ms.toFixed(0)} ms, ${us.toFixed(0)} us and ${wal.toFixed(0)} B of WAL an item`;
      console.log(`${form}, round ${round + 1}, ${size} items: ${text}`);
    }
  }
  const [few, many] = SIZES.map((size) => {
    const all = figures.get(size) ?? [];
    return {
      us: (median(all.map(({ ms }) => ms)) * 1000) / size,
      wal: median(all.map(({ walBytes }) => walBytes)) / size,
    };
  });
  if (few === undefined || many === undefined) return;
  const [time, wal] = [many.us / few.us, many.wal / few.wal];
  console.log(`${form}, 10,000 against 1,000: time an item x${time.toFixed(2)}, WAL an item x${wal.toFixed(2)}`);
}

await measure('texts');
await measure('numbers');
client.close();
await worker.stop();
await node.stop();
await database.drop();
