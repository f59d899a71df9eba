/**
 * What a user writes first: a workflow, a worker and a trigger, against nothing but the published SDK. Compiled as a
 * module and as CommonJS, so without `await` at its top.
 */
import { createWorker, defineWorkflow, DuctorClient } from '@ductor/sdk';
import { z } from 'zod';

const greeting = defineWorkflow({
  slug: 'greeting',
  input: z.object({ name: z.string(), times: z.number().int() }),
  build(w) {
    const greet = w.step('greet', {
      run: async ({ name, times }, { signal }) => {
        signal.throwIfAborted();
        return { text: `hello ${name}`.repeat(times), at: new Date(0) };
      },
    });
    const pause = w.wait('pause', { duration: '10ms', after: greet });
    return w.project('answer', { text: greet.output.text, at: greet.output.at }, { after: pause }).output;
  },
});

async function main(): Promise<void> {
  const worker = createWorker({ workflows: [greeting] });
  await worker.ready;
  const client = new DuctorClient();
  const run = await client.trigger(greeting, { name: 'Ada', times: 2 });
  const output = await run.result({ timeoutMs: 20_000 });
  // Dates arrive as text: the type says so.
  const answer: { text: string; at: string } = output;
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  client.close();
  await worker.stop();
}

void main();
