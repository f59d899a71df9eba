/** The coordinator on the real stores: two nodes on one Postgres, one of them dies, answers are lost. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock, systemRandom, uuidV7 } from '../../engine/src/kernel/index.js';
import {
  createCoordinator,
  type Bus,
  type Coordinator,
  type Task,
} from '../../engine/src/workflow/coordinator/index.js';
import { jsonValue } from '../../engine/src/workflow/machine/index.js';
import { MemoryInvoker, refOf } from '../../engine/src/workflow/testing/memory-invoker.js';
import { sequence } from '../../engine/src/workflow/testing/plan-builder.js';
import { untilDeath } from '../support/postgres-node.js';
import { closeTestBus, sharedBus } from '../support/test-bus.js';
import { postgresWorld, type PostgresProcess, type PostgresWorld } from '../support/postgres-world.js';

const PLAN = sequence('a', 'b', 'c');
const RUNS = 200;
const random = systemRandom();

/** A node whose worker answers at once. */
interface Node {
  readonly process: PostgresProcess;
  readonly coordinator: Coordinator;
  readonly closed: Map<string, string>;
  isDead: boolean;
  /** Its worker takes nothing. */
  isIdle: boolean;
  readonly log: string[];
}

let world: PostgresWorld;
let tenantId: string;

beforeEach(async () => {
  world = await postgresWorld();
  tenantId = uuidV7(Date.now() * 1000, random);
});
afterAll(closeTestBus);
afterEach(() => world.close());

async function join(bus: Bus, counts: Map<string, number>): Promise<Node> {
  const process = await world.open();
  const invoker = new MemoryInvoker();
  const clock = systemClock();
  const workerId = uuidV7(clock.nowUs(), random);
  const log: string[] = [];
  const node: Node = {
    process,
    closed: new Map(),
    isDead: false,
    isIdle: false,
    log,
    coordinator: createCoordinator({
      node: { nodeId: uuidV7(clock.nowUs(), random), address: `${workerId}:7233` },
      clock,
      random,
      runs: untilDeath(process.runs, () => node.isDead),
      inbox: untilDeath(process.inbox, () => node.isDead),
      cluster: untilDeath(process.cluster, () => node.isDead),
      plans: { peek: () => PLAN, load: () => Promise.resolve(PLAN), current: () => Promise.resolve(1) },
      invoker: {
        dispatch(tasks) {
          invoker.dispatch(tasks);
          setImmediate(work);
        },
        abort: (orders) => invoker.abort(orders),
        dropShards: (shards) => invoker.dropShards(shards),
      },
      bus,
      hooks: { log: (level, message) => void log.push(`${level} ${message}`) },
    }),
  };
  const answer = (task: Task): void => {
    const name = `${task.runId}/${task.path}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const outcome = { kind: 'completed', output: jsonValue(task.path) } as const;
    node.coordinator.settle(refOf(task), outcome, () => invoker.done(task));
  };
  function work(): void {
    if (node.isDead || node.isIdle) return;
    const tasks = invoker.take(workerId);
    node.coordinator.sent(workerId, tasks.map(refOf));
    for (const task of tasks) answer(task);
  }
  node.coordinator.onChange((change) => {
    if (change.closed !== null) node.closed.set(change.runId, change.status);
  });
  await node.coordinator.run();
  node.coordinator.workerConnected(workerId, []);
  return node;
}

function start(node: Node): Promise<string> {
  const { familySlug, version } = PLAN;
  const request = { tenantId, familySlug, version, input: jsonValue(1), attributes: {}, startKey: null };
  return node.coordinator.start(request).then((outcome) => outcome.runId);
}

/** Waits until every run has ended, 20 s at most; gives those that have not. */
async function openOf(runIds: readonly string[], node: Node): Promise<readonly string[]> {
  for (let tries = 0; ; tries += 1) {
    const found = await node.process.runs.load(runIds.map((runId) => ({ tenantId, runId })));
    const open = found.filter((run) => run.header.status !== 'COMPLETED').map((run) => run.runId);
    if ((found.length === runIds.length && open.length === 0) || tries > 200) return open;
    await pause(100);
  }
}

describe('the coordinator on Postgres', () => {
  it('runs many workflows to their end, over answers that are lost', async () => {
    const counts = new Map<string, number>();
    const node = await join(await sharedBus(), counts);
    const runIds: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      node.process.loseNextAnswer?.();
      runIds.push(...(await Promise.all(Array.from({ length: RUNS / 5 }, () => start(node)))));
    }
    expect(await openOf(runIds, node)).toEqual([]);
    expect(new Set(runIds).size).toBe(RUNS);
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(RUNS * 3);
    for (let tries = 0; node.closed.size < RUNS && tries < 100; tries += 1) await pause(20);
    expect(node.closed.size).toBe(RUNS);
    await node.coordinator.stop();
  });

  it('goes on where a killed node stopped', async () => {
    const counts = new Map<string, number>();
    const bus = await sharedBus();
    const dying = await join(bus, counts);
    const heir = await join(bus, counts);
    for (let tries = 0; heir.coordinator.ownedShards().length < 128 && tries < 100; tries += 1) await pause(50);
    expect(dying.coordinator.ownedShards().length).toBe(128);
    dying.isIdle = true;
    const started = await Promise.all(Array.from({ length: RUNS }, (_, n) => start(n % 2 === 0 ? dying : heir)));
    dying.isDead = true;
    await dying.process.kill();
    expect(await openOf(started, heir)).toEqual([]);
    expect(heir.coordinator.ownedShards().length).toBe(256);
    expect([...counts.values()].every((count) => count === 1)).toBe(true);
    await heir.coordinator.stop();
  });
});
