/** Sub-steps of a body over kills: what was done once is not done again, whoever dies when. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuctorClient } from '@ductor/sdk';
import { expect, it } from 'vitest';
import type { Child } from '../support/child.js';
import { startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder, scratchFolder } from '../support/scratch.js';
import { until } from '../support/wait.js';
import { startWorker, typescript } from '../support/worker.js';
import { transfer } from './sub-steps/worker.js';

cleanUpProcesses();

it('keeps what a body has done over SIGKILL of its worker, of the engine, and a failed attempt', async () => {
  const folder = scratchFolder('sub-steps');
  const said: string[] = [];
  const engine = await startEngine({ dataDir: dataFolder('sub-steps') });
  const work = (name: string): Promise<Child> =>
    startWorker({
      ...{ name, args: typescript('test/e2e/sub-steps/worker.ts', folder, 'work') },
      env: { DUCTOR_ADDRESS: engine.address, DUCTOR_API_KEY: engine.apiKey },
      onLine: (line) => said.push(line),
    });
  const go = (name: string): void => writeFileSync(join(folder, name), '');
  const heard = (line: string, times = 1): Promise<unknown> =>
    until(`a worker to say "${line}"`, () => said.filter((each) => each === line).length >= times || undefined, {
      detail: () => said.join('\n'),
    });

  const first = await work('first worker');
  const client = new DuctorClient({ engine: engine.address, apiKey: engine.apiKey });
  const run = await client.trigger(transfer, { cents: 2n ** 60n });
  await heard(`took ${2n ** 60n} at 7`);
  await first.kill();
  await work('second worker');
  // The next attempt gets from the engine what the first one did.
  await heard(`took ${2n ** 60n} at 7`, 2);
  expect(said.filter((line) => line === 'takes')).toHaveLength(1);

  go('take-done');
  await heard('gives');
  await engine.kill();
  go('give');
  await engine.start();
  await heard('gave');
  go('no-failure');
  expect(await run.result()).toEqual({ given: 2n ** 60n, took: new Date(7) });
  expect(said.filter((line) => line === 'takes' || line === 'gives')).toEqual(['takes', 'gives']);
  client.close();
});
