/**
 * Three engines are restarted one after the other under load, as a deployment does it: SIGTERM, the end, the start.
 * Each ends by itself within ten seconds and hands back what it has; no client sees an error that trying again does not
 * cure, and no attempt is lost by it. A second signal ends an engine that is told to hurry at once.
 */
import { join } from 'node:path';
import { DuctorClient } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { chainWorkflow, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import { balanced } from '../support/cluster.js';
import { type Engine, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { retrying, sleep, until } from '../support/wait.js';

const STEPS = 4;
const BODY_MS = 150;
const CLIENTS = 12;
const STOP_LIMIT_MS = 10_000;
/** How an engine ends that was told twice. */
const FORCED = 130;
/** How long a call may be tried: one engine is down at a time, the others answer. */
const RETRY_LIMIT_MS = 10_000;

const test = testDatabase();
cleanUpProcesses();

const chain = { slug: 'rolling', steps: STEPS, marks: join(scratchFolder('marks'), 'marks.jsonl') };
const workflow = chainWorkflow({ ...chain, marks: '' });
const marks = new Marks(chain.marks);
let engines: readonly Engine[];
let client: DuctorClient;

beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  engines = await Promise.all(
    [0, 1, 2].map((index) => startEngine({ name: `engine-${index}`, databaseUrl: test.url })),
  );
  const addresses = engines.map(({ address }) => address);
  await startChainWorker({ ...chain, name: 'worker', addresses, apiKey, capacity: 60 });
  client = new DuctorClient({ engine: addresses, apiKey });
  await balanced(test.db, addresses, 60);
  return () => client.close();
});

describe('engines that are restarted', () => {
  it('one after the other under load: no error that trying again does not cure, no attempt lost', async () => {
    const started: string[] = [];
    let isOver = false;
    const feed = async (feeder: number): Promise<void> => {
      for (let turn = 0; !isOver; turn += 1) {
        const name = `run-${feeder}-${turn}`;
        const start = (): Promise<{ readonly id: string }> =>
          client.trigger(workflow, { name, bodyMs: BODY_MS }, { idempotencyKey: name });
        const { id } = await retrying(start, RETRY_LIMIT_MS);
        started.push(id);
        await client.run(id).result({ timeoutMs: 60_000 });
      }
    };
    const feeders = Array.from({ length: CLIENTS }, (_, feeder) => feed(feeder));
    const tookMs: number[] = [];
    for (const engine of engines) {
      await until('work to be under way', () => marks.read().counts.begun - marks.counts.ended > 5);
      const beganMs = performance.now();
      expect(await engine.stop(STOP_LIMIT_MS)).toEqual({ code: 0, signal: null });
      tookMs.push(Math.round(performance.now() - beganMs));
      await engine.start();
      await sleep(1_000);
    }
    isOver = true;
    await Promise.all(feeders);
    console.log(`rolling restart: ${started.length} runs; engines ended after ${tookMs.join(', ')} ms`);
    expect(started.length).toBeGreaterThan(CLIENTS);
    const journal = await readJournal(test.db);
    expect(contradictions(journal)).toEqual([]);
    expect(journal).toHaveLength(new Set(started).size);
    expect(journal.filter(({ closed }) => closed !== 'COMPLETED')).toEqual([]);
    // Handed back, not lost: no step needed a second attempt. A body begins twice only where the worker could not say
    // within a second what it holds, on a machine that is busy: at most what ran at a restart.
    const { beginnings } = marks.read();
    expect([...beginnings.keys()].filter((attempt) => !attempt.endsWith('/1'))).toEqual([]);
    const twice = [...beginnings].filter(([, times]) => times > 1);
    expect(twice.filter(([, times]) => times > engines.length)).toEqual([]);
    expect(twice.length).toBeLessThanOrEqual(CLIENTS * engines.length);
  });

  it('end at once when they are told a second time', async () => {
    const [engine = expect.unreachable('no engine')] = engines;
    // Both wait for it while it stands still: it cannot end by the first before the second is there.
    for (const signal of ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT'] as const) engine.child.signal(signal);
    expect(await engine.child.exited).toEqual({ code: FORCED, signal: null });
  });
});
