/**
 * A tenant with a large backlog delays another tenant's step by less than a second: the real coordinator and bridge on
 * Postgres. DUCTOR_FAIR_RUNS=100000 runs it at its full size.
 */
import { expect, it } from 'vitest';
import { Bridge } from '../../engine/src/bridge/index.js';
import { taskTokens } from '../../engine/src/bridge/token.js';
import { WorkRequest } from '../../engine/src/gen/ductor/v1/bridge.js';
import type { DeepPartial } from '../../engine/src/gen/google/protobuf/struct.js';
import { clusterSecret, systemClock, systemRandom, uuidV7 } from '../../engine/src/kernel/index.js';
import { createCoordinator, type Coordinator } from '../../engine/src/workflow/coordinator/index.js';
import { jsonValue } from '../../engine/src/workflow/machine/index.js';
import { sequence } from '../../engine/src/workflow/testing/plan-builder.js';
import { until } from '../support/wait.js';
import { postgresWorld } from '../support/postgres-world.js';

const RUNS = Number(process.env['DUCTOR_FAIR_RUNS'] ?? 3_000);
const SLOTS = 20;
/** How long a step takes. */
const STEP_MS = 20;
const PLAN = sequence('work');

const random = systemRandom();
const clock = systemClock();

/** A worker that takes STEP_MS for each task. Returns how many it has done. */
function worker(bridge: Bridge, tenantId: string): () => number {
  let done = 0;
  const principal = { tenantId, principalId: 'key', name: 'key', scopes: new Set(['bridge:work'] as const) };
  const send = (message: DeepPartial<WorkRequest>): void => stream.received(WorkRequest.fromPartial(message));
  const stream = bridge.open(principal, {
    write({ tasks }) {
      if (tasks.length === 0) return true;
      setTimeout(() => {
        done += tasks.length;
        const output = { data: Buffer.from('1'), encoding: 'json' };
        const results = tasks.map(({ runId, path, attempt, token }) => ({
          ...{ resultId: BigInt(done), runId, path, attempt, token },
          outcome: { $case: 'output' as const, value: output },
        }));
        send({ results, credits: tasks.length });
      }, STEP_MS);
      return true;
    },
    pause: () => undefined,
    resume: () => undefined,
    end: () => undefined,
  });
  const workflows = [{ definition: { familySlug: PLAN.familySlug }, handlers: ['work'] }];
  send({ hello: { workerId: uuidV7(clock.nowUs(), random), slots: SLOTS, workflows } });
  send({ credits: SLOTS });
  return () => done;
}

function start(coordinator: Coordinator, tenantId: string): Promise<{ readonly runId: string }> {
  const { familySlug, version } = PLAN;
  return coordinator.start({ tenantId, familySlug, version, input: jsonValue(1), attributes: {}, startKey: null });
}

it('delays the steps of another tenant by less than a second', { timeout: 600_000 }, async () => {
  const world = await postgresWorld();
  const node = await world.open();
  const nodeId = uuidV7(clock.nowUs(), random);
  const tokens = taskTokens(clusterSecret('a secret for tests, 32 bytes long'), random);
  const register = (): Promise<{ version: number; isNew: boolean }> => Promise.resolve({ version: 1, isNew: false });
  const bridge = new Bridge({ nodeId, clock, tokens, register });
  const coordinator = createCoordinator({
    ...{ node: { nodeId, address: 'here:7233' }, clock, random, invoker: bridge },
    ...{ runs: node.runs, inbox: node.inbox, cluster: node.cluster },
    plans: { peek: () => PLAN, load: () => Promise.resolve(PLAN), current: () => Promise.resolve(1) },
    bus: { publish: () => undefined, subscribe: () => () => undefined },
  });
  bridge.attach(coordinator);
  const closed = new Set<string>();
  coordinator.onChange(({ runId, closed: end }) => void (end !== null && closed.add(runId)));
  await coordinator.run();
  const [big, small] = [uuidV7(clock.nowUs(), random), uuidV7(clock.nowUs(), random)];
  for (let left = RUNS; left > 0; left -= 1_000) {
    await Promise.all(Array.from({ length: Math.min(1_000, left) }, () => start(coordinator, big)));
  }
  expect(bridge.stats().queuedTasks).toBe(Math.min(RUNS, 1_000));
  expect(bridge.stats().refusedTasks).toBe(Math.max(0, RUNS - 1_000));
  const doneOfBig = worker(bridge, big);
  worker(bridge, small);
  const waits: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const from = performance.now();
    const { runId } = await start(coordinator, small);
    await until('the small run to end', () => closed.has(runId), { everyMs: 1 });
    waits.push(performance.now() - from);
  }
  process.stdout.write(`${RUNS} ready steps: another tenant's run took ${waits.map(Math.round).join(' ')} ms\n`);
  // It was measured beside the backlog, not after it.
  expect(doneOfBig()).toBeLessThan(RUNS);
  expect(Math.max(...waits)).toBeLessThan(1_000);
  // And the backlog comes to its end, page by page.
  await until('the backlog to end', () => closed.size === RUNS + waits.length, { limitMs: 500_000, everyMs: 50 });
  expect(doneOfBig()).toBe(RUNS);
  bridge.close();
  await coordinator.stop();
  await world.close();
});
