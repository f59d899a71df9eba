/**
 * Engines and workers are killed at random under load; every run completes and every attempt has one outcome.
 * The choices are seeded; the moments are the machine's. A kill is made only while at least IN_FLIGHT_MIN bodies run in
 * workers that are alive; what was killed comes back by itself, also while the next one is killed.
 */
import { join } from 'node:path';
import { DuctorClient } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../engine/src/kernel/index.js';
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
const marks = new Marks(chain.marks);
const engines: Engine[] = [];
const workers: Child[] = [];
let apiKey: string;
let client: DuctorClient;

const startOne = (index: number): Promise<Child> => {
  const addresses = engines.map(({ address }) => address);
  return startChainWorker({ ...chain, name: `worker-${index}`, addresses, apiKey, capacity: CAPACITY });
};
/** Bodies that run in workers that are alive. */
const inFlight = (): number => marks.inFlight(workers.filter((each) => each.isRunning).map(({ pid }) => pid));

beforeAll(async () => {
  ({ apiKey } = await developmentKey(test.db));
  for (let index = 0; index < ENGINES; index += 1)
    engines.push(await startEngine({ name: `engine-${index}`, databaseUrl: test.url }));
  for (let index = 0; index < WORKERS; index += 1) workers.push(await startOne(index));
  client = new DuctorClient({ engine: engines.map(({ address }) => address), apiKey });
  return () => client.close();
});

/** Something that can be killed and comes back. */
interface Victim {
  readonly name: string;
  kill(): Promise<void>;
  start(): Promise<unknown>;
}

function victims(): readonly Victim[] {
  return [
    ...engines.map((engine) => ({ name: engine.name, kill: () => engine.kill(), start: () => engine.start() })),
    ...workers.map(({ name }, index) => ({
      name,
      kill: async () => workers[index]?.kill(),
      start: async () => {
        workers[index] = await startOne(index);
      },
    })),
  ];
}

/** What was killed, with how many attempts in flight. */
interface Kill {
  readonly name: string;
  readonly running: number;
}

/** Kills at random until enough kills were made; resolves when everything is back. */
async function killAtRandom(random: Random): Promise<readonly Kill[]> {
  const kills: Kill[] = [];
  const back = new Map<string, Promise<unknown>>();
  const all = victims();
  const detail = (): string =>
    `${kills.length} kills, ${inFlight()} in flight, ${JSON.stringify(marks.counts)}; the load has to last longer?\n` +
    engines.map((engine) => engine.child.output.slice(-3_000)).join('\n');
  while (kills.length < KILLS) {
    await sleep(100 + (random.uint32() % 500));
    // Engines as often as workers, though there are fewer of them.
    const group = random.uint32() % 2 === 0 ? all.slice(0, ENGINES) : all.slice(ENGINES);
    const victim = group[random.uint32() % group.length];
    if (victim === undefined || back.has(victim.name)) continue;
    await until('load to kill under', () => inFlight() >= IN_FLIGHT_MIN, { limitMs: 30_000, everyMs: 5, detail });
    kills.push({ name: victim.name, running: inFlight() });
    await victim.kill();
    back.set(
      victim.name,
      victim.start().finally(() => back.delete(victim.name)),
    );
  }
  await Promise.all(back.values());
  return kills;
}

describe('random kills', () => {
  it(`${KILLS} kills while ${RUNS} runs of ${STEPS} steps are under way: all complete, one outcome each`, async () => {
    const workflow = chainWorkflow({ ...chain, marks: '' });
    const beganMs = performance.now();
    const handles = await Promise.all(
      Array.from({ length: RUNS }, (_, index) => {
        const name = `run-${index}`;
        return retrying(() => client.trigger(workflow, { name, bodyMs: BODY_MS }, { idempotencyKey: name }));
      }),
    );
    const kills = await killAtRandom(seededRandom(SEED));
    const killingMs = performance.now() - beganMs;
    for (const run of handles) await client.run(run.id).result({ timeoutMs: 90_000 });
    const tookMs = performance.now() - beganMs;

    const journal = await readJournal(test.db);
    const attempts = journal.reduce((sum, run) => sum + run.outcomes.size, 0);
    const { begun } = marks.read().counts;
    console.log(
      `random kills, seed ${SEED}: ${RUNS} runs in ${(tookMs / 1_000).toFixed(1)} s, ${KILLS} kills until ` +
        `${(killingMs / 1_000).toFixed(1)} s (what and attempts in flight: ` +
        `${kills.map(({ name, running }) => `${name} ${running}`).join(', ')}); ` +
        `${attempts} recorded outcomes, ${begun} bodies begun`,
    );
    expect(kills.filter(({ running }) => running >= IN_FLIGHT_MIN).length).toBeGreaterThanOrEqual(KILLS_UNDER_LOAD_MIN);
    expect(new Set(handles.map(({ id }) => id)).size).toBe(RUNS);
    expect(journal).toHaveLength(RUNS);
    expect(contradictions(journal)).toEqual([]);
    expect(journal.filter(({ closed }) => closed !== 'COMPLETED')).toEqual([]);
    expect(journal.filter(({ outcomes }) => outcomes.size < STEPS)).toEqual([]);
  });
});
