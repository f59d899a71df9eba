/** Runs that share keys, on the coordinator with stores in memory. */
import { describe, expect, it } from 'vitest';
import { keyOf } from '../../capacity/index.js';
import { CoordinatorKit, TENANT } from '../testing/coordinator-kit.js';
import { planOf, template, type PlanSpec } from '../testing/plan-builder.js';

const WORKER = 'worker-1';
const room = (limit: number) => ({ concurrency: [{ key: template(() => 'k'), limit }], rate: null });
const one: PlanSpec = { steps: { a: { type: 'CALLBACK', semaphores: room(2) } } };

/** A node with a worker, and so many runs of a plan. */
async function crowd(spec: PlanSpec, runs: number) {
  const kit = new CoordinatorKit({ plans: [planOf(spec)] });
  const node = kit.node();
  await kit.pass(3_000, 250);
  node.coordinator.workerConnected(WORKER, []);
  const started = (await kit.start(node, runs)).map(({ runId }) => runId);
  await kit.flush();
  const held = (): number => kit.db.semaphores.holds.size;
  const status = (): readonly string[] => started.map((runId) => kit.stored(runId)?.status ?? 'none');
  const check = (): void => {
    expect(kit.db.violations).toEqual([]);
    expect(kit.db.semaphores.violations).toEqual([]);
  };
  return { kit, node, started, held, status, check };
}

describe('steps that share a key', () => {
  it('are let in so many at a time, in the order in which they came, and none is lost', async () => {
    const { kit, node, held, status, check } = await crowd(one, 7);
    let done = 0;
    for (let rounds = 0; rounds < 20 && done < 7; rounds += 1) {
      expect(held()).toBeLessThanOrEqual(2);
      const taken = kit.take(node, WORKER);
      expect(taken.length).toBeLessThanOrEqual(2);
      done += taken.length;
      kit.settle(node, taken);
      await kit.pass(200, 50);
      check();
    }
    expect(status()).toEqual(Array.from({ length: 7 }, () => 'COMPLETED'));
    expect([held(), kit.db.semaphores.line.length, kit.db.inbox.size]).toEqual([0, 0, 0]);
  });

  it('give it back when they are cancelled or terminated, at work or in line', async () => {
    const { kit, node, started, held, status, check } = await crowd(one, 4);
    const [first = '', , third = '', fourth = ''] = started;
    kit.take(node, WORKER);
    expect(kit.db.semaphores.line).toHaveLength(2);
    await Promise.all([
      node.coordinator.cancel({ tenantId: TENANT, runId: third }, 'enough', 'me'),
      node.coordinator.terminate({ tenantId: TENANT, runId: first }, 'enough', 'me'),
      kit.pass(500, 50),
    ]);
    expect([status()[0], status()[2]]).toEqual(['TERMINATED', 'CANCELLED']);
    expect([held(), kit.db.semaphores.line.length]).toEqual([2, 0]);
    expect(kit.stored(fourth)?.steps.get('a')?.status).toBe('SCHEDULED');
    check();
  });

  it('are let in by whatever answer is lost', async () => {
    const { kit, node, status, check } = await crowd(one, 6);
    for (let rounds = 0; rounds < 30; rounds += 1) {
      node.fault = ({ method }) => (method === 'commitGated' && rounds % 3 === 0 ? { kind: 'lost_after' } : null);
      kit.settle(node, kit.take(node, WORKER));
      await kit.pass(400, 50);
    }
    node.fault = null;
    await kit.pass(2_000, 100);
    expect(status()).toEqual(Array.from({ length: 6 }, () => 'COMPLETED'));
    expect(kit.db.semaphores.holds.size).toBe(0);
    check();
  });
});

describe('runs that share a key', () => {
  it('run one after the other, each with all of its steps', async () => {
    const spec: PlanSpec = {
      steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK', semaphores: room(1) } },
      semaphores: room(1),
    };
    const { kit, node, status, check } = await crowd(spec, 3);
    await kit.pass(500, 50);
    for (let runs = 1; runs <= 3; runs += 1) {
      const taken = kit.take(node, WORKER);
      expect(new Set(taken.map(({ runId }) => runId)).size).toBe(1);
      expect(taken.map(({ path }) => path).sort()).toEqual(['a', 'b']);
      kit.settle(node, taken);
      await kit.pass(500, 50);
      expect(status().filter((one1) => one1 === 'COMPLETED')).toHaveLength(runs);
    }
    expect(kit.db.semaphores.holds.size).toBe(0);
    check();
  });
});

describe('steps that share a rate', () => {
  it('begin evenly spread', async () => {
    const rate = { key: template(() => 'api'), limit: 2, perUs: 1_000_000 };
    const spec: PlanSpec = { steps: { a: { type: 'CALLBACK', semaphores: { concurrency: [], rate } } } };
    const { kit, node, check } = await crowd(spec, 5);
    const counts: number[] = [];
    for (let half = 0; half < 6; half += 1) {
      counts.push(kit.take(node, WORKER).length);
      await kit.pass(500, 50);
    }
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5);
    for (const count of counts) expect(count).toBeLessThanOrEqual(1);
    expect(kit.db.semaphores.line).toEqual([]);
    expect(keyOf({ kind: 'rate', key: 'api', limit: 1, perUs: 1 })).toBe('r/api');
    check();
  });
});
