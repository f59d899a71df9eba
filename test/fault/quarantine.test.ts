/**
 * A run that ends whatever engine ticks it, by SIGKILL from inside, in a cluster of three under a supervisor: it is
 * parked, and the 200 runs beside it go on.
 */
import { createWorker, defineWorkflow, DuctorClient, type Worker } from '@ductor/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { statusCode } from '../../engine/src/workflow/store-postgres/run-status-code.js';
import { developmentKey } from '../support/api-key.js';
import { balanced } from '../support/cluster.js';
import { type Engine, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { retrying, sleep, until } from '../support/wait.js';

const LEASE_MS = 3_000;
/** How long 32 runs take that are tried alone, one after the other. */
const ALONE_MS = 2_000;
const RUNS = 200;
const STEPS = 12;
const BODY_MS = 300;
const DEADLY = 'a value that no engine survives';
const PRELOAD = new URL('../support/deadly-value.mjs', import.meta.url).href;

const test = testDatabase();
cleanUpProcesses();

const chain = defineWorkflow({
  slug: 'beside-a-killer',
  input: z.object({ text: z.string() }),
  build(w) {
    const run = async ({ text }: { text: string }): Promise<{ text: string }> => {
      await sleep(BODY_MS);
      return { text };
    };
    let last = w.step('step-1', { input: { text: w.input.text }, run: () => run({ text: 'begun' }) });
    for (let index = 2; index <= STEPS; index += 1)
      last = w.step(`step-${index}`, { input: { text: last.output.text }, run });
    return last.output;
  },
});
const killer = defineWorkflow({
  slug: 'killer',
  input: z.object({ n: z.number() }),
  build(w) {
    const first = w.step('makes', { run: () => ({ text: DEADLY }) });
    return w.step('reads', { input: { text: first.output.text }, run: ({ text }) => ({ text }) }).output;
  },
});

const PARKED = statusCode('PARKED');

const engines: Engine[] = [];
let isSupervised = true;
let deaths = 0;
/** Engines that are ready, since when there is none, and how long there was none, ms. */
let ready = 0;
let darkSinceMs = 0;
let darkMs = 0;
/** What this machine needs to start an engine at worst: it says how long moments are here, ms. */
let slowestStartMs = 0;
let worker: Worker;
let client: DuctorClient;

/** Starts an engine again as often as it ends. */
async function supervise(engine: Engine): Promise<void> {
  for (;;) {
    await engine.child.exited;
    if (!isSupervised) return;
    deaths += 1;
    ready -= 1;
    if (ready === 0) darkSinceMs = performance.now();
    await sleep(200);
    await engine.start().catch(() => undefined);
    ready += 1;
    slowestStartMs = Math.max(slowestStartMs, engine.readyMs);
    if (ready === 1) darkMs += performance.now() - darkSinceMs;
  }
}

/** Longest time between two ticks of each of the runs, ms. */
async function longestGapMs(runIds: readonly string[]): Promise<number> {
  const { rows } = await test.db.query<{ gap_ms: number }>(
    `select max(gap)::float8 / 1000 as gap_ms from (
      select at - lag(at) over (partition by run_id order by seq) as gap from ductor.run_journal
        where run_id = any($1::uuid[])) g`,
    [`{${runIds.join()}}`],
  );
  return rows[0]?.gap_ms ?? Number.NaN;
}

beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  const env = { DUCTOR_LEASE_MS: String(LEASE_MS), NODE_OPTIONS: `--import=${PRELOAD}`, DEADLY_VALUE: DEADLY };
  for (const name of ['one', 'two', 'three']) engines.push(await startEngine({ name, databaseUrl: test.url, env }));
  const addresses = engines.map(({ address }) => address);
  ready = engines.length;
  slowestStartMs = Math.max(...engines.map(({ readyMs }) => readyMs));
  for (const engine of engines) void supervise(engine);
  const connection = { engine: addresses, apiKey };
  worker = createWorker({ ...connection, workflows: [chain, killer], capacity: RUNS, handleSignals: false });
  await worker.ready;
  client = new DuctorClient(connection);
  await balanced(test.db, addresses, 80);
});
afterAll(async () => {
  isSupervised = false;
  client?.close();
  await worker?.stop();
});

describe('a run that ends its engine', () => {
  it('is parked after three crashes of its own, and 200 runs beside it go on', { timeout: 240_000 }, async () => {
    const trigger = async (index: number): Promise<string> => {
      const options = { idempotencyKey: `healthy-${index}` };
      return (await retrying(() => client.trigger(chain, { text: 'x' }, options))).id;
    };
    const healthy = await Promise.all(Array.from({ length: RUNS }, (_, index) => trigger(index)));
    const beganMs = performance.now();
    const { id } = await retrying(() => client.trigger(killer, { n: 1 }, { idempotencyKey: 'the killer' }));
    const parked = async (): Promise<boolean> => {
      const { rows } = await test.db.query('select 1 from ductor.runs where run_id = $1 and status = $2', [id, PARKED]);
      return rows.length > 0;
    };
    await until('the killer to be parked', parked, { limitMs: 150_000, everyMs: 200 });
    const parkedMs = performance.now() - beganMs;
    for (const runId of healthy) await retrying(() => client.run(runId).result({ timeoutMs: 60_000 }));
    const gapMs = await longestGapMs(healthy);
    console.log(
      `quarantine: ${deaths} engines ended, parked after ${Math.round(parkedMs)} ms, ` +
        `longest pause of ${RUNS} runs beside it ${Math.round(gapMs)} ms, ` +
        `${Math.round(darkMs)} ms without an engine, slowest start ${Math.round(slowestStartMs)} ms`,
    );
    expect(deaths).toBeGreaterThanOrEqual(3);
    expect(deaths).toBeLessThanOrEqual(5);
    // A lease for each of the two engines that those go down with who are tried in one group with the killer, until
    // they are tried alone, one after the other; and moments. While all engines were down nobody could go on.
    expect(gapMs).toBeLessThanOrEqual(2 * LEASE_MS + ALONE_MS + 2 * slowestStartMs + darkMs);
    const after = deaths;
    const explained = await retrying(() => client.run(id).explain());
    expect(JSON.stringify(explained)).toContain('engine_crash');
    expect(JSON.stringify(explained)).toContain('tried this run alone');
    expect(contradictions(await readJournal(test.db))).toEqual([]);
    await sleep(2_000);
    expect(deaths).toBe(after);
  });
});
