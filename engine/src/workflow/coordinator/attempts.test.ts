import { describe, expect, it } from 'vitest';
import { CoordinatorKit, TENANT } from '../testing/coordinator-kit.js';
import { planOf, sequence } from '../testing/plan-builder.js';

const ONE_STEP = sequence('a');
const WORKER = 'worker-1';
const OTHER = 'worker-2';

/** A node with so many runs whose attempts are out with WORKER. */
async function withAttempts(count: number, plan = ONE_STEP) {
  const kit = new CoordinatorKit({ plans: [plan] });
  const node = kit.node();
  await kit.flush();
  node.coordinator.workerConnected(WORKER, []);
  const runs = await kit.start(node, count);
  const refs = kit.take(node, WORKER);
  return { kit, node, runs, refs };
}

describe('attempts that run', () => {
  it('are noted after a second, many in one commit', async () => {
    const { kit, node, runs, refs } = await withAttempts(50);
    await kit.pass(950);
    expect(node.batches.length).toBe(1);
    await kit.pass(150);
    expect(node.batches.map((batch) => batch.runs)).toEqual([50, 50]);
    const state = kit.stored(runs[0]?.runId ?? '');
    expect(state?.steps.get('a')).toMatchObject({ status: 'RUNNING', worker: WORKER });
    expect(kit.settle(node, refs).length).toBe(0);
    await kit.flush();
    expect(kit.stored(runs[0]?.runId ?? '')?.status).toBe('COMPLETED');
  });

  it('are noted at once when their timeout is short, and time out', async () => {
    const plan = planOf({ steps: { a: { type: 'CALLBACK', timeoutMs: 500, retry: { maxAttempts: 1 } } } });
    const { kit, node, runs } = await withAttempts(1, plan);
    await kit.flush();
    expect(kit.stored(runs[0]?.runId ?? '')?.steps.get('a')?.status).toBe('RUNNING');
    await kit.pass(450);
    expect(kit.stored(runs[0]?.runId ?? '')?.status).toBe('RUNNING');
    await kit.pass(100);
    expect(kit.stored(runs[0]?.runId ?? '')?.status).toBe('FAILED');
    expect(node.invoker.aborted.map((order) => order.reason)).toEqual(['timed_out']);
  });

  it('are not noted when they are over', async () => {
    const { kit, node, refs } = await withAttempts(5);
    kit.settle(node, refs);
    await kit.pass(2_000);
    expect(node.batches.map((batch) => batch.runs)).toEqual([5, 5]);
  });
});

describe('a worker that goes', () => {
  it('leaves its un-noted attempts to another after the grace', async () => {
    const { kit, node, refs } = await withAttempts(3);
    node.invoker.lose(WORKER);
    node.coordinator.workerGone(WORKER);
    await kit.pass(250);
    expect(node.invoker.queued.size).toBe(0);
    await kit.pass(100);
    expect(node.invoker.queued.size).toBe(3);
    node.coordinator.workerConnected(OTHER, []);
    const again = kit.take(node, OTHER);
    expect(again.map((ref) => ref.attempt)).toEqual([1, 1, 1]);
    const acks = kit.settle(node, again);
    await kit.flush();
    expect(acks).toEqual(['recorded', 'recorded', 'recorded']);
    const late = kit.settle(node, refs);
    await kit.flush();
    expect(late).toEqual(['already_settled', 'already_settled', 'already_settled']);
  });

  it('keeps them when it comes back with them in time', async () => {
    const { kit, node, refs } = await withAttempts(3);
    node.coordinator.workerGone(WORKER);
    await kit.pass(200);
    node.coordinator.workerConnected(WORKER, refs);
    await kit.pass(20_000, 500);
    expect(node.invoker.dispatched.length).toBe(3);
    expect(kit.settle(node, refs).length).toBe(0);
    await kit.flush();
    expect(kit.db.violations).toEqual([]);
  });

  it('gets those it came back without again', async () => {
    const { kit, node, refs } = await withAttempts(3);
    node.invoker.lose(WORKER);
    node.coordinator.workerGone(WORKER);
    await kit.pass(100);
    node.coordinator.workerConnected(WORKER, refs.slice(1));
    await kit.flush();
    expect([...node.invoker.queued.values()].map((task) => task.runId)).toEqual([refs[0]?.runId]);
  });

  it('loses its noted attempts after worker_lost_after: a next attempt follows', async () => {
    const { kit, node, runs } = await withAttempts(2);
    await kit.pass(1_200);
    node.invoker.lose(WORKER);
    node.coordinator.workerGone(WORKER);
    await kit.pass(14_800, 100);
    expect(kit.stored(runs[0]?.runId ?? '')?.steps.get('a')?.status).toBe('RUNNING');
    await kit.pass(3_000, 100);
    const step = kit.stored(runs[0]?.runId ?? '')?.steps.get('a');
    expect(step).toMatchObject({ status: 'SCHEDULED', attempt: 2, lostInARow: 1 });
    expect([...node.invoker.queued.values()].map((task) => task.attempt)).toEqual([2, 2]);
  });

  it('loses nothing for as long as it shows by another way that it lives', async () => {
    const { kit, node, runs } = await withAttempts(2);
    const step = () => kit.stored(runs[0]?.runId ?? '')?.steps.get('a');
    await kit.pass(1_200);
    node.invoker.lose(WORKER);
    node.coordinator.workerGone(WORKER);
    for (let second = 0; second < 40; second += 1) {
      await kit.pass(1_000, 500);
      node.coordinator.workerAlive(WORKER);
    }
    expect(step()).toMatchObject({ status: 'RUNNING', attempt: 1 });
    await kit.pass(14_500, 500);
    expect(step()).toMatchObject({ status: 'RUNNING', attempt: 1 });
    await kit.pass(3_000, 100);
    expect(step()).toMatchObject({ status: 'SCHEDULED', attempt: 2 });
  });

  it('is not followed by others for ever when a body ends its worker within moments', async () => {
    const { kit, node, runs, refs } = await withAttempts(1);
    const runId = runs[0]?.runId ?? '';
    let taken = refs.length;
    for (let worker = 2; worker < 40 && kit.stored(runId)?.status !== 'PARKED'; worker += 1) {
      await kit.pass(20, 20);
      node.invoker.lose(`worker-${worker - 1}`);
      node.coordinator.workerGone(`worker-${worker - 1}`);
      await kit.pass(18_000, 200);
      node.coordinator.workerConnected(`worker-${worker}`, []);
      taken += kit.take(node, `worker-${worker}`).length;
    }
    expect(kit.stored(runId)?.parked?.code).toBe('worker_lost');
    expect(taken).toBe(6);
  });

  it('loses nothing when it comes back in time with noted attempts', async () => {
    const { kit, node, runs, refs } = await withAttempts(2);
    await kit.pass(1_200);
    node.coordinator.workerGone(WORKER);
    await kit.pass(10_000, 100);
    node.coordinator.workerConnected(WORKER, refs);
    await kit.pass(10_000, 100);
    expect(kit.stored(runs[0]?.runId ?? '')?.steps.get('a')).toMatchObject({ status: 'RUNNING', attempt: 1 });
    const acks = kit.settle(node, refs);
    await kit.flush();
    expect(acks).toEqual(['recorded', 'recorded']);
  });

  it('loses noted attempts at once when it comes back without them', async () => {
    const { kit, node, runs } = await withAttempts(1);
    await kit.pass(1_200);
    node.invoker.lose(WORKER);
    node.coordinator.workerGone(WORKER);
    await kit.pass(500);
    node.coordinator.workerConnected(WORKER, []);
    await kit.flush();
    expect(kit.stored(runs[0]?.runId ?? '')?.steps.get('a')).toMatchObject({ status: 'BACKOFF', lostInARow: 1 });
  });
});

describe('after a takeover', () => {
  it('noted attempts wait for their worker; un-noted ones go out at once', async () => {
    const { kit, node, runs } = await withAttempts(2);
    await kit.pass(1_200);
    const [young] = await kit.start(node, 1);
    kit.kill(node);
    const heir = kit.node();
    await kit.pass(2_500);
    expect(heir.invoker.dispatched.map((task) => task.runId)).toEqual([young?.runId]);
    await kit.pass(12_000, 100);
    expect(kit.stored(runs[0]?.runId ?? '')?.steps.get('a')).toMatchObject({ status: 'RUNNING', attempt: 1 });
    await kit.pass(5_000, 100);
    expect(kit.stored(runs[0]?.runId ?? '')?.steps.get('a')).toMatchObject({ attempt: 2, lostInARow: 1 });
  });

  it('a noted attempt is lost, too, when its worker is here and never names it', async () => {
    const { kit, node, runs, refs } = await withAttempts(2);
    await kit.pass(1_200);
    const heir = kit.node();
    heir.coordinator.workerConnected(WORKER, refs.slice(1));
    kit.kill(node);
    await kit.pass(12_000, 100);
    expect(kit.stored(runs[0]?.runId ?? '')?.steps.get('a')).toMatchObject({ status: 'RUNNING', attempt: 1 });
    await kit.pass(8_000, 100);
    expect(kit.stored(runs[0]?.runId ?? '')?.steps.get('a')).toMatchObject({ attempt: 2, lostInARow: 1 });
    expect(kit.stored(runs[1]?.runId ?? '')?.steps.get('a')).toMatchObject({ status: 'RUNNING', attempt: 1 });
  });

  it('a noted attempt is lost, too, when this node had wanted to send it again before', async () => {
    const { kit, node, runs } = await withAttempts(1);
    const runId = runs[0]?.runId ?? '';
    node.invoker.lose(WORKER);
    node.coordinator.workerGone(WORKER);
    await kit.pass(400);
    // It waits in the queue of a node that now stands still; another one takes over and gives it to its worker.
    let go = (): void => undefined;
    node.hold = new Promise((resolve) => {
      go = resolve;
    });
    const heir = kit.node();
    heir.coordinator.workerConnected(OTHER, []);
    await kit.pass(8_000, 200);
    kit.take(heir, OTHER);
    await kit.pass(1_200);
    expect(kit.stored(runId)?.steps.get('a')).toMatchObject({ status: 'RUNNING', worker: OTHER });
    node.hold = null;
    go();
    await kit.pass(500);
    kit.kill(heir);
    await kit.pass(25_000, 200);
    expect(kit.stored(runId)?.steps.get('a')).toMatchObject({ attempt: 2, lostInARow: 1 });
  });

  it('asks connected workers first, and sends nothing again that they hold', async () => {
    const { kit, node, refs } = await withAttempts(3);
    const heir = kit.node();
    heir.invoker.asked = [WORKER];
    heir.coordinator.workerConnected(WORKER, []);
    kit.kill(node);
    await kit.pass(1_500);
    expect(heir.coordinator.ownedShards().length).toBe(256);
    expect(heir.invoker.dispatched).toEqual([]);
    heir.coordinator.workerConnected(WORKER, refs.slice(1));
    await kit.flush();
    expect(heir.invoker.dispatched.map((task) => task.runId)).toEqual([refs[0]?.runId]);
  });

  it('waits for an inventory for a second at most', async () => {
    const { kit, node } = await withAttempts(3);
    const heir = kit.node({ inventoryWaitMs: 1_000 });
    heir.invoker.asked = [WORKER];
    kit.kill(node);
    await kit.pass(4_000);
    expect(heir.invoker.dispatched.length).toBe(3);
  });

  it('a result in the mailbox counts before anything is sent again', async () => {
    const { kit, node, runs, refs } = await withAttempts(1);
    const heir = kit.node();
    kit.kill(node);
    const acks = kit.settle(heir, refs);
    await kit.pass(3_000);
    expect(acks).toEqual(['recorded']);
    expect(heir.invoker.dispatched).toEqual([]);
    expect(kit.stored(runs[0]?.runId ?? '')?.status).toBe('COMPLETED');
  });
});

describe('a cancel', () => {
  it('ends an attempt that no worker got at once, and tells the worker of one that is out', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [queued, out] = await kit.start(node, 2);
    const taken = node.invoker.take(WORKER, 2).filter((task) => task.runId === out?.runId);
    // Only one of the two is really given away.
    for (const task of node.invoker.dispatched) if (task.runId === queued?.runId) node.invoker.done(task);
    node.invoker.dispatch(node.invoker.dispatched.filter((task) => task.runId === queued?.runId));
    node.coordinator.sent(WORKER, taken);
    for (const run of [queued, out])
      void node.coordinator.cancel({ tenantId: TENANT, runId: run?.runId ?? '' }, '', '');
    await kit.flush();
    await kit.flush();
    expect(kit.stored(queued?.runId ?? '')?.status).toBe('CANCELLED');
    expect(kit.stored(out?.runId ?? '')?.status).toBe('CANCELLING');
    expect(node.invoker.aborted.map((order) => [order.runId, order.reason])).toEqual([[out?.runId, 'cancelled']]);
    kit.settle(node, taken, { kind: 'cancelled' });
    await kit.flush();
    expect(kit.stored(out?.runId ?? '')?.status).toBe('CANCELLED');
  });
});
