/** A step that computes for longer than its heartbeat timeout without letting go of the event loop. */
import { createWorker, defineWorkflow, DuctorClient } from '@ductor/sdk';
import { z } from 'zod';

const blocks = defineWorkflow({
  slug: 'blocks',
  input: z.object({ seconds: z.number() }),
  build: (w) =>
    w.step('compute', {
      input: w.input,
      heartbeatTimeout: '4s',
      retry: { maxAttempts: 2 },
      run: ({ seconds }, ctx) => {
        const until = Date.now() + seconds * 1_000;
        let rounds = 0;
        while (Date.now() < until) rounds += 1;
        return { attempt: ctx.attempt, rounds };
      },
    }).output,
});

async function main(): Promise<void> {
  const worker = createWorker({ workflows: [blocks] });
  await worker.ready;
  const client = new DuctorClient();
  const run = await client.trigger(blocks, { seconds: 10 });
  const { attempt } = await run.result();
  console.log(`ended in attempt ${attempt} after 10 s`);
  client.close();
  // Nothing is left then that keeps the process alive: no stream, no thread.
  await worker.stop();
}

void main();
