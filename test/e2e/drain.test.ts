/** SIGTERM to a worker in the middle of its work: it finishes what it has and takes nothing new; nothing is lost. */
import { join } from 'node:path';
import { DuctorClient } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { chainWorkflow, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder, scratchFolder } from '../support/scratch.js';
import { until } from '../support/wait.js';

const RUNS = 60;
const CAPACITY = 20;

cleanUpProcesses();

let engine: Engine;
let client: DuctorClient;
beforeAll(async () => {
  engine = await startEngine({ dataDir: dataFolder('drain') });
  client = new DuctorClient({ engine: engine.address, apiKey: engine.apiKey });
  return () => client.close();
});

describe('a worker that is told to stop', () => {
  it('finishes its running bodies, takes no more, and the next worker does the rest', async () => {
    const marks = join(scratchFolder('marks'), 'marks.jsonl');
    const chain = { slug: 'drained', steps: 1, marks };
    const connection = { addresses: [engine.address], apiKey: engine.apiKey, capacity: CAPACITY };
    const first = await startChainWorker({ ...chain, ...connection, name: 'first' });
    const workflow = chainWorkflow({ ...chain, marks: '' });
    const runs = await Promise.all(
      Array.from({ length: RUNS }, (_, index) => client.trigger(workflow, { name: `run-${index}`, bodyMs: 400 })),
    );
    const seen = new Marks(marks);
    await until('all slots to be taken', () => seen.inFlight([first.pid]) === CAPACITY, { everyMs: 2 });
    const exit = await first.stop();
    expect(exit).toEqual({ code: 0, signal: null });
    const { begun, ended } = seen.read().counts;
    expect(ended, 'bodies the first worker began and did not end').toBe(begun);
    expect(begun).toBeLessThan(RUNS);
    const closed = await client.list({ workflow: 'drained', state: 'COMPLETED', pageSize: 200 });
    expect(closed.runs, 'results that were acknowledged before the worker ended').toHaveLength(ended);

    await startChainWorker({ ...chain, ...connection, name: 'second' });
    await Promise.all(runs.map((run) => run.result({ timeoutMs: 30_000 })));
    expect(seen.read().counts).toEqual({ begun: RUNS, ended: RUNS });
    expect([...seen.beginnings.values()].every((times) => times === 1)).toBe(true);
    console.log(`drain: ${begun} bodies before SIGTERM, ${RUNS - begun} after; each of ${RUNS} began once`);
  });
});
