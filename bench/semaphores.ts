/**
 * What semaphores cost: `DATABASE_URL=… npx tsx bench/semaphores.ts [runs]`. Without DATABASE_URL it starts the
 * embedded PostgreSQL. One coordinator on it; steps are answered at once, so each run is a hold that is taken and
 * given back.
 *
 * Lines: no key (plain lane alone), a key for each run (spread), 8 keys (hot, limit 8 each), 1 key (one line, limit 1).
 * The first and the last of a round are the same, without a key: their difference is the noise.
 */
import { systemClock, systemRandom, uuidV7 } from '../engine/src/kernel/index.js';
import { openDatabase } from '../engine/src/store/index.js';
import { createTestDatabase } from '../engine/src/store/testing/index.js';
import { createCoordinator, type Task } from '../engine/src/workflow/coordinator/index.js';
import { jsonValue, type Plan } from '../engine/src/workflow/machine/index.js';
import {
  postgresClusterStore,
  postgresInboxStore,
  postgresRunStore,
} from '../engine/src/workflow/store-postgres/index.js';
import { MemoryInvoker, refOf } from '../engine/src/workflow/testing/memory-invoker.js';
import { planOf, template } from '../engine/src/workflow/testing/plan-builder.js';

const RUNS = Number(process.argv[2] ?? 2_000);
const IN_FLIGHT = 256;
const clock = systemClock();
const random = systemRandom();

function planFor(version: number, keys: number, limit: number): Plan {
  const key = template(({ run }) => {
    const text = String(run['id']);
    return keys === 0 ? text : `k${Number.parseInt(text.slice(-4), 16) % keys}`;
  });
  const semaphores = { concurrency: [{ key, limit }], rate: null };
  return planOf({ version, steps: { work: { type: 'CALLBACK', ...(limit === 0 ? {} : { semaphores }) } } });
}

const KINDS: readonly (readonly [name: string, plan: Plan])[] = [
  ['no key', planFor(1, 0, 0)],
  ['a key for each run', planFor(2, 0, 1)],
  ['8 keys, limit 8', planFor(3, 8, 8)],
  ['1 key, limit 1', planFor(4, 1, 1)],
  ['no key again', planFor(1, 0, 0)],
];

const created = await createTestDatabase();
const db = openDatabase({ url: created.url, applicationName: 'bench', maxConnections: 3 });
const runs = postgresRunStore({ db, clock });
const cluster = postgresClusterStore({ db, clock });
const invoker = new MemoryInvoker();
const workerId = uuidV7(clock.nowUs(), random);
const plans = new Map(KINDS.map(([, plan]) => [plan.version, plan]));
let closed = 0;
let wake: () => void = () => undefined;
const coordinator = createCoordinator({
  ...{ node: { nodeId: uuidV7(clock.nowUs(), random), address: 'here:7233' }, clock, random },
  ...{
    runs,
    inbox: postgresInboxStore(db),
    cluster,
  },
  plans: {
    peek: (_tenant, _family, version) => plans.get(version),
    load: (_tenant, _family, version) => Promise.resolve(plans.get(version)),
    current: () => Promise.resolve(1),
  },
  invoker: {
    dispatch(tasks) {
      invoker.dispatch(tasks);
      setImmediate(work);
    },
    abort: (orders) => invoker.abort(orders),
    dropShards: (shards) => invoker.dropShards(shards),
  },
  bus: { publish: () => undefined, subscribe: () => () => undefined },
});

function answer(task: Task): void {
  const outcome = { kind: 'completed', output: jsonValue(1) } as const;
  coordinator.settle(refOf(task), outcome, () => invoker.done(task));
}

function work(): void {
  const tasks = invoker.take(workerId);
  coordinator.sent(workerId, tasks.map(refOf));
  for (const task of tasks) answer(task);
}

coordinator.onChange((change) => {
  if (change.closed === null) return;
  closed += 1;
  wake();
});
await coordinator.run();
coordinator.workerConnected(workerId, []);

for (const [name, plan] of KINDS) {
  const tenantId = uuidV7(clock.nowUs(), random);
  const count = name.startsWith('1 key') ? Math.ceil(RUNS / 10) : RUNS;
  const from = performance.now();
  const target = closed + count;
  for (let started = 0; started < count;) {
    if (target - closed - (count - started) >= IN_FLIGHT) {
      await new Promise<void>((resolve) => (wake = resolve));
      continue;
    }
    const now = Math.min(32, count - started);
    started += now;
    const { familySlug, version } = plan;
    const request = { tenantId, familySlug, version, input: jsonValue(1), attributes: {}, startKey: null };
    await Promise.all(Array.from({ length: now }, () => coordinator.start(request)));
  }
  while (closed < target) await new Promise<void>((resolve) => (wake = resolve));
  const seconds = (performance.now() - from) / 1000;
  process.stdout.write(`${name.padEnd(20)} ${Math.round(count / seconds)} steps/s (${count} runs)\n`);
}
await coordinator.stop();
await Promise.all([runs.close(), cluster.close()]);
await db.close();
await created.drop();
process.exit(0);
