/** Ductor, seen from an app. Settings: DUCTOR_ADDRESS, DUCTOR_API_KEY. */
import {
  type RunHandle,
  type StepHandle,
  type Workflow,
  DuctorClient,
  createWorker,
  defineWorkflow,
} from '@ductor/sdk';
import { z } from 'zod';
import { late, noop, slow } from './bodies.js';
import { type Kind, SEQUENCE } from './kinds.js';
import type { Side } from './side.js';

const numbered = z.object({ n: z.number() });
const sleeper = z.object({ n: z.number(), due: z.string() });

const seq3 = defineWorkflow({
  slug: 'seq3',
  input: numbered,
  build(w) {
    const first = w.step('a', { run: noop });
    const second = w.step('b', { after: first, run: noop });
    return w.step('c', { after: second, run: noop }).output;
  },
});

const fan50 = defineWorkflow({
  slug: 'fan50',
  input: numbered,
  build(w) {
    const all = Array.from({ length: 50 }, (_, index) => w.step(`s${index}`, { run: noop }));
    return w.project('join', { done: 50 }, { after: all }).output;
  },
});

const sleep = defineWorkflow({
  slug: 'sleep',
  input: sleeper,
  build(w) {
    const slept = w.wait('nap', { until: w.input.due });
    return w.step('late', { after: slept, run: ({ n }) => late(n) }).output;
  },
});

const slow3 = defineWorkflow({
  slug: 'slow3',
  input: numbered,
  build(w) {
    let last: StepHandle<number> | undefined;
    for (const name of SEQUENCE) last = w.step(name, { ...(last && { after: last }), run: ({ n }) => slow(n, name) });
    return last?.output;
  },
});

const WORKFLOWS = [seq3, fan50, sleep, slow3];
const PAGE = 200;

/** Starts a run of a kind. */
function trigger(client: DuctorClient, kind: Kind, n: number): Promise<RunHandle<unknown>> {
  if (kind === 'sleep') return client.trigger(sleep, { n, due: new Date(n).toISOString() });
  const workflow: Workflow<{ n: number }> = { seq3, fan50, slow3 }[kind];
  return client.trigger(workflow, { n });
}

/** How many runs have completed. */
async function completed(client: DuctorClient): Promise<number> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await client.list({
      state: 'COMPLETED',
      pageSize: PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    count += page.runs.length;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return count;
}

/** This process as an app of Ductor. */
export function createSide(): Side {
  let client: DuctorClient | undefined;
  let leave: (() => Promise<void>) | undefined;
  const opened = (): DuctorClient => {
    client ??= new DuctorClient();
    return client;
  };
  return {
    prepare: () => Promise.resolve(),
    async work(slots) {
      const worker = createWorker({ workflows: WORKFLOWS, capacity: slots });
      leave = () => worker.stop();
      await worker.ready;
    },
    open() {
      opened();
      return Promise.resolve();
    },
    async run(kind, n) {
      const started = await trigger(opened(), kind, n);
      await started.result();
    },
    async start(kind, n) {
      await trigger(opened(), kind, n);
    },
    finished: () => completed(opened()),
    async close() {
      client?.close();
      await leave?.();
    },
  };
}
