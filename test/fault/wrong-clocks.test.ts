/**
 * Three engines whose machines do not know what time it is: one is five minutes ahead, one five minutes behind, one
 * jumps by an hour and back every second. Leases, timers, deadlines and keys go by the database's clock, so nothing
 * changes: every run ends as it should, no timer comes early or later than a moment, and no engine loses its shards.
 */
import { createWorker, defineWorkflow, DuctorClient } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { balanced } from '../support/cluster.js';
import { type Engine, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { retrying } from '../support/wait.js';

const CLOCK = new URL('../support/shifted-clock.mjs', import.meta.url).href;
const MINUTE_MS = 60_000;
const CLOCKS: readonly Readonly<Record<string, string>>[] = [
  { SHIFT_MS: String(5 * MINUTE_MS) },
  { SHIFT_MS: String(-5 * MINUTE_MS) },
  { JUMP_MS: String(60 * MINUTE_MS), JUMP_EVERY_MS: '1000' },
];
const RUNS = 150;
const WAIT_MS = 3_000;
/** A busy machine wakes late; nothing that is wrong by minutes hides in it. */
const LATE_MAX_MS = 20_000;

const test = testDatabase();
cleanUpProcesses();

const workflow = defineWorkflow({
  slug: 'wrong-clocks',
  input: z.object({ number: z.number() }),
  build(w) {
    const first = w.step('first', {
      input: { number: w.input.number },
      run: ({ number }: { number: number }) => ({ number }),
    });
    const pause = w.wait('pause', { duration: `${WAIT_MS}ms`, after: first });
    return w.step('last', {
      input: { number: w.input.number },
      after: pause,
      timeout: '30s',
      run: ({ number }: { number: number }) => ({ doubled: number * 2 }),
    }).output;
  },
});

let engines: readonly Engine[];
let clients: readonly DuctorClient[];

beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  engines = await Promise.all(
    CLOCKS.map((clock, index) =>
      startEngine({
        name: `engine-${index}`,
        databaseUrl: test.url,
        env: { ...clock, NODE_OPTIONS: `--import ${CLOCK}` },
      }),
    ),
  );
  clients = engines.map(({ address }) => new DuctorClient({ engine: address, apiKey }));
  const workers = engines.map(({ address }) => createWorker({ workflows: [workflow], engine: address, apiKey }));
  await Promise.all(workers.map(({ ready }) => ready));
  await balanced(
    test.db,
    engines.map(({ address }) => address),
    70,
  );
  return async () => {
    for (const worker of workers) await worker.stop();
    for (const client of clients) client.close();
  };
});

describe('engines with wrong clocks', () => {
  it('do what engines with right ones do', async () => {
    const { rows: before } = await test.db.query<{ owners: string }>(
      'select string_agg(node_id::text, $1 order by shard) as owners from ductor.shard_owner',
      [','],
    );
    const ids = await Promise.all(
      Array.from({ length: RUNS }, async (_, number) => {
        const client = clients[number % clients.length] ?? expect.unreachable('no client');
        const options = { idempotencyKey: `run-${number}` };
        return (await retrying(() => client.trigger(workflow, { number }, options))).id;
      }),
    );
    for (const [number, id] of ids.entries()) {
      const client = clients[(number + 1) % clients.length] ?? expect.unreachable('no client');
      expect(await client.run(id).result({ timeoutMs: 60_000 })).toEqual({ doubled: number * 2 });
    }
    const journal = await readJournal(test.db);
    expect(contradictions(journal)).toEqual([]);
    expect(journal.map(({ closed }) => closed)).toEqual(Array.from({ length: RUNS }, () => 'COMPLETED'));
    // By the database's own clock, which wrote neither of these: it was estimated by each engine.
    const { rows: took } = await test.db.query<{ least: number; most: number }>(
      `select min(closed_at - started_at)::float8 / 1000 as least, max(closed_at - started_at)::float8 / 1000 as most
        from ductor.runs`,
    );
    expect(took[0]?.least).toBeGreaterThanOrEqual(WAIT_MS);
    expect(took[0]?.most).toBeLessThan(WAIT_MS + LATE_MAX_MS);
    const { rows: now } = await test.db.query<{ off: number }>(
      'select max(abs(ductor.now_us() - closed_at))::float8 / 1000 as off from ductor.runs',
    );
    expect(now[0]?.off).toBeLessThan(MINUTE_MS);
    const { rows: after } = await test.db.query<{ owners: string }>(
      'select string_agg(node_id::text, $1 order by shard) as owners from ductor.shard_owner',
      [','],
    );
    expect(after).toEqual(before);
    for (const engine of engines) expect((await engine.metrics()).fenced_commits).toBe(0);
  });
});
