/** A proxy cuts the engine's connection after its COMMIT was sent, again and again under load. */
import { join } from 'node:path';
import { DuctorClient, type RunHandle } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../engine/src/kernel/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { type ChainOutput, chainWorkflow, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import { type Cut, type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.js';
import { type Engine, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { sleep } from '../support/wait.js';

const SEED = 20_260_412;
const CUTS = 50;
const STEPS = 3;
const WAVE = 20;
const CAPACITY = 50;

const test = testDatabase();
cleanUpProcesses();

const chain = { slug: 'lost-answers', steps: STEPS, marks: join(scratchFolder('marks'), 'marks.jsonl') };
let proxy: DatabaseProxy;
let engine: Engine;
let client: DuctorClient;

beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  proxy = await startDatabaseProxy(test.url);
  engine = await startEngine({ databaseUrl: proxy.url });
  await startChainWorker({ ...chain, name: 'worker', addresses: [engine.address], apiKey, capacity: CAPACITY });
  client = new DuctorClient({ engine: engine.address, apiKey });
  return async () => {
    client.close();
    await proxy.close();
  };
});

describe('a connection that is cut after COMMIT was sent', () => {
  it(`${CUTS} times under load: nothing doubled, nothing lost`, async () => {
    const random = seededRandom(SEED);
    const cuts: Record<Cut, number> = { at_once: 0, after_answer: 0 };
    proxy.plan = () => {
      // Every second commit on average, so that some go through between the cuts.
      const drawn = random.uint32() % 4;
      if (drawn > 1 || cuts.at_once + cuts.after_answer >= CUTS) return 'pass';
      const cut = drawn === 0 ? 'at_once' : 'after_answer';
      cuts[cut] += 1;
      return cut;
    };
    const workflow = chainWorkflow({ ...chain, marks: '' });
    const runs: Promise<RunHandle<ChainOutput>>[] = [];
    const beganMs = performance.now();
    for (let wave = 0; proxy.counts.cut < CUTS; wave += 1) {
      expect(wave, 'waves until all cuts were made').toBeLessThan(200);
      for (let index = 0; index < WAVE; index += 1) {
        const name = `run-${wave}-${index}`;
        runs.push(client.trigger(workflow, { name, bodyMs: 20 }, { idempotencyKey: name }));
      }
      await sleep(200);
    }
    for (const run of await Promise.all(runs)) await run.result({ timeoutMs: 60_000 });
    const tookMs = performance.now() - beganMs;

    const journal = await readJournal(test.db);
    const { rows } = await test.db.query<{ count: number }>('select count(*)::int as count from ductor.runs');
    const { begun } = new Marks(chain.marks).read().counts;
    const metrics = await engine.metrics();
    console.log(
      `lost answers: ${cuts.at_once} cuts at once, ${cuts.after_answer} after the answer, of ${proxy.counts.seen} ` +
        `commits in ${(tookMs / 1_000).toFixed(1)} s; ${runs.length} runs, ${begun} bodies; ` +
        `metrics ${JSON.stringify(metrics)}`,
    );
    expect(proxy.counts.cut).toBe(CUTS);
    expect(cuts.at_once).toBeGreaterThan(10);
    expect(cuts.after_answer).toBeGreaterThan(10);
    expect(rows).toEqual([{ count: runs.length }]);
    expect(contradictions(journal)).toEqual([]);
    expect(journal).toHaveLength(runs.length);
    expect(journal.filter(({ closed, outcomes }) => closed !== 'COMPLETED' || outcomes.size !== STEPS)).toEqual([]);
  });
});
