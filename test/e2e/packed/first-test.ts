/** A user's test of a workflow, against nothing but the published SDK: no engine, no database. */
import { deepStrictEqual } from 'node:assert/strict';
import { defineWorkflow } from '@ductor/sdk';
import { testRun } from '@ductor/sdk/testing';
import { z } from 'zod';

const reminder = defineWorkflow({
  slug: 'reminder',
  input: z.object({ to: z.string() }),
  build(w) {
    const wait = w.wait('a-day', { duration: '24h' });
    return w.step('mail', { after: wait, run: ({ to }) => ({ sent: `mail to ${to}` }) }).output;
  },
});

async function main(): Promise<void> {
  const plain = await testRun(reminder, { to: 'Ada' });
  deepStrictEqual(await plain.result(), { sent: 'mail to Ada' });
  for (let commit = 1; commit <= plain.commits; commit += 1) {
    const run = await testRun(
      reminder,
      { to: 'Ada' },
      { crashAt: commit, steps: { mail: () => ({ sent: 'nothing' }) } },
    );
    deepStrictEqual(await run.result(), { sent: 'nothing' });
  }
  process.stdout.write('tested\n');
}

void main();
