import { describe, expect, it } from 'vitest';
import { bridgeHarness, workerId } from '../testing/harness.js';
import { abortsOf, refOf, some, tasksOf, two } from '../testing/seen.js';
import { runId, task, tenantId } from '../testing/tasks.js';

const NAME = `${tenantId(1)}/${workerId(1)}`;

describe('aborts', () => {
  it('take a task off the queue, or reach the worker that has it', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 1 });
    const [out, queued] = two();
    const unknown = task({ runId: runId(9) });
    bridge.dispatch([out, queued]);
    clock.settle();
    const orders = [out, queued, unknown].map((it) => ({ ...refOf(it), reason: 'cancelled' as const }));
    expect(bridge.abort(orders).map(refOf)).toEqual([refOf(queued)]);
    clock.settle();
    expect(abortsOf(worker)).toEqual([{ runId: out.runId, path: 'work', attempt: 1, reason: 'cancelled' }]);
  });

  it('are said again to a worker that comes back with the attempt', async () => {
    const { join, bridge, clock, tokens } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 1 });
    bridge.dispatch([task()]);
    clock.settle();
    worker.events.gone();
    expect(bridge.abort([{ ...refOf(task()), reason: 'timed_out' }])).toEqual([]);
    const holds = [{ ...refOf(task()), token: tokens.issue(task()) }];
    const again = await join({ inventory: { holds } });
    expect(abortsOf(again)).toEqual([expect.objectContaining({ reason: 'timed_out' })]);
  });
});

describe('workers that come and go', () => {
  it('are gone with their last stream, and name what they hold when they are back', async () => {
    const { join, bridge, clock, told, tokens } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 2 });
    const [kept, lost] = two();
    bridge.dispatch([kept, lost]);
    clock.settle();
    worker.events.gone();
    expect(told.gone).toEqual([NAME]);
    const forged = { ...refOf(lost), token: Buffer.alloc(24) };
    const again = await join({ inventory: { holds: [{ ...refOf(kept), token: tokens.issue(kept) }, forged] } });
    expect(told.connected.at(-1)).toEqual({ worker: NAME, holds: [refOf(kept)] });
    again.send({ credits: 2 });
    bridge.dispatch([kept, lost]);
    clock.settle();
    expect(tasksOf(again)).toEqual([lost.runId]);
  });

  it('get an attempt again whose worker the coordinator has given up', async () => {
    const { join, bridge, clock, told } = bridgeHarness();
    const first = await join();
    first.send({ credits: 1 });
    bridge.dispatch([task()]);
    clock.settle();
    const second = await join({ workerId: workerId(2) });
    second.send({ credits: 1 });
    bridge.dispatch([task()]);
    clock.settle();
    expect(tasksOf(second)).toEqual([]);
    // The dispatch was in vain, and the coordinator cannot know: it is asked to look again once the worker is gone.
    expect(told.rechecked).toEqual([]);
    first.events.gone();
    expect(told.rechecked).toEqual([{ tenantId: task().tenantId, runId: task().runId }]);
    bridge.dispatch([task()]);
    clock.settle();
    expect(tasksOf(second)).toEqual([task().runId]);
  });

  it('of another tenant with the same id are other workers', async () => {
    const { join, told } = bridgeHarness();
    const mine = await join();
    await join({}, 2);
    mine.events.gone();
    expect(told.gone).toEqual([NAME]);
    expect(told.connected.map(({ worker }) => worker)).toEqual([NAME, `${tenantId(2)}/${workerId(1)}`]);
  });

  it('with a second stream: the first gets nothing until it shows life, and is ended when it does not', async () => {
    const { join, bridge, clock, told } = bridgeHarness();
    const dead = await join();
    dead.send({ credits: 5 });
    bridge.dispatch([task()]);
    clock.settle();
    const fresh = await join();
    expect(dead.received.at(-1)?.ping).toBe(1n);
    fresh.send({ credits: 5 });
    bridge.dispatch(some(4, 10));
    clock.settle();
    expect([tasksOf(dead).length, tasksOf(fresh).length]).toEqual([1, 4]);
    clock.advance(1_000);
    expect(dead.ending?.code).toBe('worker_superseded');
    // What went down with it is asked for, and proven lost by an absence before the answer.
    expect(fresh.received.at(-1)?.inventoryRequest).toBe(true);
    expect(told.gone).toEqual([]);
    fresh.send({ inventory: { holds: [] } });
    expect(told.gone).toEqual([NAME]);
    expect(told.connected.at(-1)?.holds.map((ref) => ref.runId)).toEqual(some(4, 10).map((it) => it.runId));
    bridge.dispatch([task()]);
    clock.settle();
    expect(tasksOf(fresh)).toContain(task().runId);
  });

  it('with two living streams keep both', async () => {
    const { join, bridge, clock, told } = bridgeHarness();
    const one = await join();
    one.send({ credits: 2 });
    const two = await join();
    two.send({ credits: 2 });
    one.send({ pong: 1n });
    clock.advance(1_000);
    bridge.dispatch(some(4));
    clock.settle();
    expect([tasksOf(one).length, tasksOf(two).length]).toEqual([2, 2]);
    expect([one.ending, two.ending, told.gone.length]).toEqual([undefined, undefined, 0]);
  });

  it('are forgotten after a while', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 1 });
    bridge.dispatch([task()]);
    clock.settle();
    worker.events.gone();
    expect(bridge.stats()).toMatchObject({ attemptsOut: 1, workers: 0, sessions: 0 });
    clock.advance(120_000);
    expect(bridge.stats().attemptsOut).toBe(0);
  });

  it('are asked for their inventory on demand', async () => {
    const { join, bridge, clock, told } = bridgeHarness();
    const worker = await join();
    expect(bridge.inventory()).toEqual([NAME]);
    clock.settle();
    expect(worker.received.at(-1)?.inventoryRequest).toBe(true);
    worker.send({ inventory: { holds: [] } });
    expect(told.connected).toHaveLength(2);
    expect(told.gone).toEqual([]);
  });
});
