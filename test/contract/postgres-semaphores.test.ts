/** Semaphores on Postgres: two coordinators, hot keys, lost answers, a node that dies; never over a limit. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock, systemRandom, uuidV7 } from '../../engine/src/kernel/index.js';
import { openDatabase, type Database } from '../../engine/src/store/index.js';
import {
  createCoordinator,
  type Bus,
  type Coordinator,
  type Task,
} from '../../engine/src/workflow/coordinator/index.js';
import { jsonValue } from '../../engine/src/workflow/machine/index.js';
import { MemoryInvoker, refOf } from '../../engine/src/workflow/testing/memory-invoker.js';
import { planOf, template } from '../../engine/src/workflow/testing/plan-builder.js';
import { closeTestBus, sharedBus } from '../support/test-bus.js';
import { postgresWorld, type PostgresProcess, type PostgresWorld } from '../support/postgres-world.js';
import { until } from '../support/wait.js';

const LIMITS = { x: 2, y: 1, customer: 3 } as const;
const key = (name: keyof typeof LIMITS) => ({ key: template(() => name), limit: LIMITS[name] });
const PLAN = planOf({
  steps: {
    one: { type: 'CALLBACK', semaphores: { concurrency: [key('x')], rate: null } },
    two: { type: 'CALLBACK', semaphores: { concurrency: [key('y'), key('x')], rate: null } },
  },
  semaphores: { concurrency: [key('customer')], rate: null },
});
const RUNS = 40;
const random = systemRandom();

let world: PostgresWorld;
let db: Database;
let tenantId: string;

beforeEach(async () => {
  world = await postgresWorld();
  db = openDatabase({ url: world.url, applicationName: 'ductor test', maxConnections: 2 });
  tenantId = uuidV7(Date.now() * 1000, random);
});
afterAll(closeTestBus);
afterEach(async () => {
  await db.close();
  await world.close();
});

interface Node {
  readonly process: PostgresProcess;
  readonly coordinator: Coordinator;
  isDead: boolean;
}

/** How many attempts of a key are at work, and the most there ever were. */
class Meter {
  readonly now = new Map<string, number>();
  readonly most = new Map<string, number>();

  move(path: string, by: 1 | -1): void {
    for (const name of path === 'one' ? ['x'] : ['x', 'y']) {
      const count = (this.now.get(name) ?? 0) + by;
      this.now.set(name, count);
      this.most.set(name, Math.max(this.most.get(name) ?? 0, count));
    }
  }
}

async function join(bus: Bus, meter: Meter): Promise<Node> {
  const process = await world.open();
  const invoker = new MemoryInvoker();
  const clock = systemClock();
  const workerId = uuidV7(clock.nowUs(), random);
  const node: Node = {
    process,
    isDead: false,
    coordinator: createCoordinator({
      node: { nodeId: uuidV7(clock.nowUs(), random), address: `${workerId}:7233` },
      ...{ clock, random, bus, runs: process.runs, inbox: process.inbox, cluster: process.cluster },
      plans: { peek: () => PLAN, load: () => Promise.resolve(PLAN), current: () => Promise.resolve(1) },
      invoker: {
        dispatch(tasks) {
          invoker.dispatch(tasks);
          setImmediate(work);
        },
        abort: (orders) => invoker.abort(orders),
        dropShards: (shards) => invoker.dropShards(shards),
      },
    }),
  };
  const answer = (task: Task): void => {
    if (node.isDead) return;
    meter.move(task.path, -1);
    const outcome = { kind: 'completed', output: jsonValue(task.path) } as const;
    node.coordinator.settle(refOf(task), outcome, () => invoker.done(task));
  };
  function work(): void {
    const tasks = invoker.take(workerId);
    node.coordinator.sent(workerId, tasks.map(refOf));
    for (const task of tasks) {
      meter.move(task.path, 1);
      setTimeout(() => answer(task), 3);
    }
  }
  await node.coordinator.run();
  node.coordinator.workerConnected(workerId, []);
  return node;
}

function start(node: Node): Promise<{ readonly runId: string }> {
  const { familySlug, version } = PLAN;
  const request = { tenantId, familySlug, version, input: jsonValue(1), attributes: {}, startKey: null };
  return node.coordinator.start(request);
}

function nodeAt(nodes: readonly Node[], at: number): Node {
  const node = nodes[at % nodes.length];
  if (node === undefined) throw new TypeError('no node');
  return node;
}

async function allDone(runIds: readonly string[], node: Node): Promise<void> {
  await until(
    'every run to end',
    async () => {
      const found = await node.process.runs.load(runIds.map((runId) => ({ tenantId, runId })));
      return found.length === runIds.length && found.every(({ header }) => header.status === 'COMPLETED');
    },
    { limitMs: 120_000, everyMs: 100 },
  );
}

async function rowsOf(table: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(`select count(*)::int as n from ductor.${table}`);
  return rows[0]?.n ?? -1;
}

describe('semaphores on Postgres', () => {
  it('let nobody in over a limit and lose nobody, with two nodes and lost answers', { timeout: 200_000 }, async () => {
    const meter = new Meter();
    const bus = await sharedBus();
    const nodes = [await join(bus, meter), await join(bus, meter)];
    await until('both to own shards', () => nodes.every(({ coordinator }) => coordinator.ownedShards().length > 100), {
      ...{ limitMs: 20_000, everyMs: 50 },
    });
    const runIds: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (const { process } of nodes) void process.proxy.cutNext('gated_', round % 2 === 0 ? 'answered' : 'sent');
      const started = await Promise.all(Array.from({ length: RUNS / 4 }, (_, at) => start(nodeAt(nodes, at))));
      runIds.push(...started.map(({ runId }) => runId));
      await pause(50);
    }
    const [first] = nodes;
    if (first !== undefined) await allDone(runIds, first);
    expect(meter.most.get('x')).toBeLessThanOrEqual(LIMITS.x);
    expect(meter.most.get('y')).toBeLessThanOrEqual(LIMITS.y);
    expect([await rowsOf('semaphore_hold'), await rowsOf('semaphore_waiter')]).toEqual([0, 0]);
    const { rows } = await db.query<{ held: number }>('select sum(held)::int as held from ductor.semaphore');
    expect(rows[0]?.held).toBe(0);
    await Promise.all(nodes.map(({ coordinator }) => coordinator.stop()));
  });
});
