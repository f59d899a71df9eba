/**
 * A worker whose step does its work in sub-steps and says so. Between them it waits for files in a folder: it goes on
 * when a file of the name is there.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWorker, defineWorkflow } from '@ductor/sdk';
import { z } from 'zod';

const folder = process.argv[2] ?? '.';
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function file(name: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(join(folder, name))) await sleep(20, undefined, { signal });
}

/** Two sub-steps; the attempt fails until it is told not to. */
export const transfer = defineWorkflow({
  slug: 'transfer',
  input: z.object({ cents: z.bigint() }),
  build: (w) =>
    w.step('move', {
      timeout: '5m',
      retry: { initialInterval: '10ms' },
      run: async ({ cents }, ctx) => {
        say(`attempt ${ctx.attempt}`);
        const taken = await ctx.run('take', () => {
          say('takes');
          return { cents, at: new Date(7) };
        });
        say(`took ${taken.cents} at ${taken.at.getTime()}`);
        await file('take-done', ctx.signal);
        const given = await ctx.run('give', async () => {
          say('gives');
          await file('give', ctx.signal);
          return taken.cents;
        });
        say('gave');
        if (!existsSync(join(folder, 'no-failure'))) throw new Error('the bank is closed');
        return { given, took: taken.at };
      },
    }).output,
});

if (process.argv[3] === 'work') {
  const worker = createWorker({ workflows: [transfer] });
  await worker.ready;
  say('worker ready');
}
