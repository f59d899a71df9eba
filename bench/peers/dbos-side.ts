/**
 * DBOS Transact, seen from an app. It is a library: the worker executes runs in its own process, and starts them there
 * too (`direct`) or takes them from its queue. Setting: BENCH_DATABASE.
 */
import { type DbosHandle, DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import { late, noop, slow } from './bodies.js';
import { type Kind, SEQUENCE } from './kinds.js';
import type { Side, Via } from './side.js';

const QUEUE = 'bench';
/** Connections; more did not make it faster (20 against 40 and 80 tried). */
const POOL = 20;
const url = (): string => process.env['BENCH_DATABASE'] ?? '';

const WORKFLOWS: Readonly<Record<Kind, (n: number) => Promise<unknown>>> = {
  async seq3() {
    for (const name of SEQUENCE) await DBOS.runStep(noop, { name });
    return 1;
  },
  async fan50() {
    await Promise.all(Array.from({ length: 50 }, (_, index) => DBOS.runStep(noop, { name: `s${index}` })));
    return { done: 50 };
  },
  async sleep(n) {
    await DBOS.sleep(Math.max(0, n - Date.now()));
    return late(n);
  },
  async slow3(n) {
    for (const name of SEQUENCE) await DBOS.runStep(() => slow(n, name), { name });
    return 1;
  },
};

/** The workflows under their names. */
function registered(): Readonly<Record<Kind, (n: number) => Promise<unknown>>> {
  const one = (name: Kind): ((n: number) => Promise<unknown>) => DBOS.registerWorkflow(WORKFLOWS[name], { name });
  return { seq3: one('seq3'), fan50: one('fan50'), sleep: one('sleep'), slow3: one('slow3') };
}

/** This process as an app of DBOS. */
export function createSide(): Side {
  const workflows = registered();
  let client: DBOSClient | undefined;
  const enqueuer = (): DBOSClient => {
    if (client === undefined) throw new Error('this process has no client that enqueues');
    return client;
  };
  const begin = (kind: Kind, n: number): Promise<DbosHandle> =>
    client === undefined
      ? DBOS.startWorkflow(workflows[kind])(n)
      : client.enqueue({ queueName: QUEUE, workflowName: kind }, n);
  return {
    prepare: () => DBOS.migrate(url()),
    async work(slots) {
      DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url(), systemDatabasePoolSize: POOL, logLevel: 'error' });
      await DBOS.launch();
      await DBOS.registerQueue(QUEUE, { workerConcurrency: slots, onConflict: 'always_update' });
    },
    async open(via: Via) {
      if (via === 'direct') return;
      client = await DBOSClient.create({
        systemDatabaseUrl: url(),
        systemDatabasePoolSize: POOL,
        applicationName: 'bench',
      });
    },
    async run(kind, n) {
      const handle = await begin(kind, n);
      await handle.getResult();
    },
    async start(kind, n) {
      await begin(kind, n);
    },
    finished: async () => (await enqueuer().listWorkflows({ status: 'SUCCESS' })).length,
    async close() {
      await client?.destroy();
      if (DBOS.isInitialized()) await DBOS.shutdown();
    },
  };
}
