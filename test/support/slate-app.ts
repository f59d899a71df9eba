/**
 * An app as a process that selects slates: worker and client in one. From SIGUSR2 on it keeps so many runs open at
 * once, and writes a line for every slate that it used: whom, from when to when. At the next SIGUSR2 it starts no more,
 * waits for those that are open, and prints what all came to as one line of JSON; at SIGTERM it ends. Settings:
 * DUCTOR_ADDRESS, DUCTOR_API_KEY, SLATES_AT_ONCE, SLATES_MARKS (file).
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createWorker, defineWorkflow, DuctorClient, RunFailedError } from '@ductor/sdk';
import { z } from 'zod';
import { retrying } from './wait.js';

const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new RangeError(`${name} is not set`);
  return value;
};

const marks = setting('SLATES_MARKS');
/** How long one start is tried: three engines on a machine with other work refuse many for a while. */
const START_LIMIT_MS = 90_000;
/** The longest that a slate is used, ms. */
const USE_MS = 8;

const slates = defineWorkflow({
  slug: 'slates',
  input: z.object({ n: z.number() }),
  build(w) {
    const slate = w.select('slate', { pool: 'hot', slate: 3, atLeast: 3 });
    return w.step('use', {
      input: { slate: slate.recipients },
      run: async ({ slate: chosen }, { attempt }) => {
        const fromUs = process.hrtime.bigint() / 1000n;
        await pause(Math.random() * USE_MS);
        const toUs = process.hrtime.bigint() / 1000n;
        const ids = chosen.map(({ id }) => id);
        appendFileSync(marks, `${JSON.stringify({ ids, fromUs: Number(fromUs), toUs: Number(toUs), attempt })}\n`);
        return null;
      },
    }).output;
  },
});

const engine = { engine: setting('DUCTOR_ADDRESS').split(','), apiKey: setting('DUCTOR_API_KEY') };
const atOnce = Number(setting('SLATES_AT_ONCE'));
const worker = createWorker({ ...engine, workflows: [slates], capacity: atOnce, handleSignals: false });
await worker.ready;
const told = (): Promise<unknown> => once(process, 'SIGUSR2');
const begun = told();
process.stdout.write('worker ready\n');
const client = new DuctorClient(engine);
const counts = { granted: 0, refused: 0 };
let isOver = false;

async function caller(): Promise<void> {
  for (let n = 0; !isOver; n += 1) {
    const idempotencyKey = randomUUID();
    // Engines that lost their leases say so; the key makes a start that they answered with that safe to repeat.
    const run = await retrying(() => client.trigger(slates, { n }, { idempotencyKey }), START_LIMIT_MS);
    try {
      await run.result();
      counts.granted += 1;
    } catch (error) {
      if (!(error instanceof RunFailedError) || error.code !== 'recipient_capacity_exhausted') throw error;
      counts.refused += 1;
    }
  }
}

await begun;
void told().then(() => {
  isOver = true;
});
await Promise.all(Array.from({ length: atOnce }, caller));
process.stdout.write(`${JSON.stringify({ counts })}\n`);
// Others may still need it: the supervisor says when all are done.
process.once('SIGTERM', () => {
  client.close();
  void worker.stop().then(() => process.exit(0));
});
