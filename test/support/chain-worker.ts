/**
 * A worker of the chain workflow as a process. Settings: DUCTOR_ADDRESS, DUCTOR_API_KEY, CHAIN_SLUG, CHAIN_STEPS,
 * CHAIN_MARKS (file), CHAIN_CAPACITY, CHAIN_NAME,
 * CHAIN_ALL_NODES (false: only the addresses named).
 */
import { createWorker } from '@ductor/sdk';
import { chainWorkflow } from './chain.js';

const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

const worker = createWorker({
  workflows: [
    chainWorkflow({
      slug: setting('CHAIN_SLUG'),
      steps: Number(setting('CHAIN_STEPS')),
      marks: setting('CHAIN_MARKS'),
    }),
  ],
  capacity: Number(setting('CHAIN_CAPACITY')),
  name: setting('CHAIN_NAME'),
  allNodes: setting('CHAIN_ALL_NODES') === 'true',
});
await worker.ready;
process.stdout.write('worker ready\n');
await worker.stopped;
process.stdout.write('worker stopped\n');
