/**
 * How many tasks a second the fair queue moves: one tenant or a hundred, 64 in flight.
 *
 * Run: npx tsx bench/bridge/fair-queue.ts
 */
import { FairQueue, type Consumer } from '../../engine/src/bridge/queue/fair-queue.js';
import type { Task } from '../../engine/src/bridge/ports.js';
import { runId, task, tenantId } from '../../engine/src/bridge/testing/tasks.js';

const TASKS = 200_000;
const IN_FLIGHT = 64;

/** CPU time a task, us, with so many tenants and so many tasks waiting before the first is taken. */
function measure(tenants: number, backlog: number): number {
  const tasks: Task[] = Array.from({ length: TASKS }, (_, run) =>
    task({ runId: runId(run), tenantId: tenantId(run % tenants), handler: `h${run % 5}` }),
  );
  const queue = new FairQueue<number>({ maxTasks: TASKS, maxBytes: 1e9, maxTasksPerTenant: TASKS });
  const handlers = ['h0', 'h1', 'h2', 'h3', 'h4'];
  const consumers: Consumer<number>[] = Array.from({ length: tenants }, (_, at) =>
    queue.join(at, {
      tenantId: tenantId(at),
      queues: ['default'],
      workflows: [{ familySlug: 'flow', handlers, pinnedVersion: null }],
    }),
  );
  const before = process.cpuUsage();
  let pushed = 0;
  let taken = 0;
  while (taken < TASKS) {
    for (const upTo = Math.min(TASKS, taken + Math.max(backlog, IN_FLIGHT)); pushed < upTo; pushed += 1) {
      const next = tasks[pushed];
      if (next !== undefined) queue.push(next);
    }
    const room = Math.ceil(IN_FLIGHT / tenants);
    for (const consumer of consumers) queue.setRoom(consumer, room);
    for (let next = queue.take(), n = 0; next !== undefined; next = (n += 1) < IN_FLIGHT ? queue.take() : undefined) {
      taken += 1;
    }
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / TASKS;
}

measure(1, IN_FLIGHT);
for (const [tenants, backlog] of [
  [1, IN_FLIGHT],
  [1, 20_000],
  [100, IN_FLIGHT],
  [100, 100_000],
] as const) {
  const cpuUs = measure(tenants, backlog);
  const rate = Math.round(1000 / cpuUs);
  console.log(
    `${tenants} tenants, ${backlog} waiting: ${cpuUs.toFixed(1)} us of CPU a task, ${rate} k/s on a free core`,
  );
}
