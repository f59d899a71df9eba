/**
 * Engines and workers are killed at random under load; every run completes and every attempt has one outcome.
 * The choices are seeded; the moments are the machine's. A kill counts as landed under load when at least IN_FLIGHT_MIN
 * bodies run in workers that are alive; one that would not is put off until it does.
 */
import { join } from 'node:path';
import { DuctorClient } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../engine/src/kernel/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { chainWorkflow, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import type { Child } from '../support/child.js';
import { type Engine, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { retrying, sleep, until } from '../support/wait.js';

const SEED = Number(process.env['DUCTOR_TEST_SEED'] ?? 20_260_413);
const RUNS = 500;
const STEPS = 6;
const KILLS = 20;
const KILLS_UNDER_LOAD_MIN = 15;
const IN_FLIGHT_MIN = 50;
const ENGINES = 2;
const WORKERS = 3;
const CAPACITY = 30;
const BODY_MS = 700;

const test = testDatabase();
cleanUpProcesses();

const chain = { slug: 'random-kills', steps: STEPS, marks: join(scratchFolder('marks'), 'marks.jsonl') };
const engines: Engine[] = [];
const workers: Child[] = [];
let apiKey: string;
let client: DuctorClient;

const startOne = (index: number): Promise<Child> => {
  const addresses = engines.map(({ address }) => address);
  return startChainWorker({ ...chain, name: `worker-${index}`, addresses, apiKey, capacity: CAPACITY });
};

beforeAll(async () => {
  ({ apiKey } = await developmentKey(test.db));
  for (let index = 0; index < ENGINES; index += 1)
    engines.push(await startEngine({ name: `engine-${index}`, databaseUrl: test.url }));
  for (let index = 0; index < WORKERS; index += 1) workers.push(await startOne(index));
  client = new DuctorClient({ engine: engines.map(({ address }) => address), apiKey });
  return () => client.close();
});

describe('random kills', () => {
  it(`${KILLS} kills while ${RUNS} runs of ${STEPS} steps are under way: all complete, one outcome each`, async () => {
    const random = seededRandom(SEED);
    const below = (limit: number): number => random.uint32() % limit;
    const marks = new Marks(chain.marks);
    const inFlight = (): number => marks.inFlight(workers.filter((each) => each.isRunning).map(({ pid }) => pid));
    const workflow = chainWorkflow({ ...chain, marks: '' });
    const beganMs = performance.now();
    const handles = await Promise.all(
      Array.from({ length: RUNS }, (_, index) => {
        const name = `run-${index}`;
        return retrying(() => client.trigger(workflow, { name, bodyMs: BODY_MS }, { idempotencyKey: name }));
      }),
    );

    const kills: string[] = [];
    let underLoad = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(100 + below(400));
      await until('the load to be back', () => inFlight() >= IN_FLIGHT_MIN, { limitMs: 30_000, everyMs: 10 });
      const running = inFlight();
      if (running >= IN_FLIGHT_MIN) underLoad += 1;
      if (below(2) === 0) {
        const index = below(ENGINES);
        await engines[index]?.kill();
        kills.push(`engine-${index} ${running}`);
        await engines[index]?.start();
      } else {
        const index = below(WORKERS);
        await workers[index]?.kill();
        kills.push(`worker-${index} ${running}`);
        workers[index] = await startOne(index);
      }
    }
    const killingMs = performance.now() - beganMs;
    for (const run of handles) await client.run(run.id).result({ timeoutMs: 90_000 });
    const tookMs = performance.now() - beganMs;

    const journal = await readJournal(test.db);
    const attempts = journal.reduce((sum, run) => sum + run.outcomes.size, 0);
    const { begun } = marks.read().counts;
    console.log(
      `random kills, seed ${SEED}: ${RUNS} runs in ${(tookMs / 1_000).toFixed(1)} s, kills until ` +
        `${(killingMs / 1_000).toFixed(1)} s (what, attempts in flight): ${kills.join(', ')}; ` +
        `${attempts} recorded outcomes, ${begun} bodies begun`,
    );
    expect(underLoad).toBeGreaterThanOrEqual(KILLS_UNDER_LOAD_MIN);
    expect(new Set(handles.map(({ id }) => id)).size).toBe(RUNS);
    expect(journal).toHaveLength(RUNS);
    expect(contradictions(journal)).toEqual([]);
    expect(journal.filter(({ closed }) => closed !== 'COMPLETED')).toEqual([]);
    expect(journal.filter(({ outcomes }) => outcomes.size < STEPS)).toEqual([]);
  });
});
