import { describe, expect, it } from 'vitest';
import { promises, workerId, type FakeWorker } from '../testing/harness.js';
import { resultOf, some, tasksOf } from '../testing/seen.js';
import { runId, task, tenantId } from '../testing/tasks.js';
import { KIND, OWNER, twoNodes } from '../testing/two-nodes.js';

/** Ends the oldest task of the worker that has not ended, and grants its slot again. */
function endOne(worker: FakeWorker, ended: Set<string>): string {
  const next = worker.received.flatMap(({ tasks }) => tasks).find(({ runId: run }) => !ended.has(run));
  if (next === undefined) expect.fail('the worker has nothing to end');
  const { token, runId: run } = next;
  ended.add(run);
  worker.send({ results: [resultOf(token, task({ runId: run }), { resultId: BigInt(ended.size) })], credits: 1 });
  return run;
}

describe('who is lent', () => {
  it('is a worker that serves what is lacking, of that tenant', async () => {
    const { lender, owner, wish, settle, lines } = twoNodes();
    const workers = [
      await lender.join({ workerId: workerId(1), queues: ['other'] }),
      await lender.join({ workerId: workerId(2) }, 2),
      await lender.join({ workerId: workerId(3) }),
    ];
    owner.bridge.dispatch(some(1));
    await wish();
    for (const worker of workers) worker.send({ credits: 2, inventory: { holds: [] } });
    await settle();
    expect([lines.size, workers.map((worker) => tasksOf(worker).length)]).toEqual([1, [0, 0, 1]]);
  });

  it('is lent once to a node, and nobody while that node is served', async () => {
    const { lender, owner, wish, settle, lines } = twoNodes();
    const worker = await lender.join();
    worker.send({ credits: 4 });
    owner.bridge.dispatch(some(2));
    await wish();
    await wish();
    worker.send({ inventory: { holds: [] } });
    await settle();
    expect([lines.size, owner.bridge.lacks()]).toEqual([1, []]);
  });

  it('is never one that another node lends: a task takes one hop', async () => {
    const { lender, owner, wish, settle } = twoNodes();
    const worker = await lender.join();
    worker.send({ credits: 4 });
    owner.bridge.dispatch(some(1));
    await wish();
    worker.send({ inventory: { holds: [] } });
    await settle();
    const dialled: string[] = [];
    owner.bridge.relayBy({
      dial(node) {
        dialled.push(node.nodeId);
        return { send: () => undefined, finish: () => undefined, cancel: () => undefined };
      },
      close: () => undefined,
    });
    owner.bridge.lend({ nodeId: 'third', address: 'x:1' }, { nodeId: 'third', tenantId: tenantId(1), kinds: [KIND] });
    worker.send({ inventory: { holds: [] } });
    await settle();
    expect([dialled, owner.bridge.stats().relays.lending]).toEqual([[], 0]);
  });

  it('is refused by a node that the worker reaches itself, and not offered again at once', async () => {
    const { lender, owner, settle, lines } = twoNodes();
    const worker = await lender.join();
    await owner.join();
    const wish = { nodeId: OWNER.nodeId, tenantId: tenantId(1), kinds: [KIND] };
    for (let time = 0; time < 3; time += 1) {
      lender.bridge.lend(OWNER, wish);
      worker.send({ inventory: { holds: [] } });
      await settle();
    }
    expect([lines.size, lender.bridge.stats().relays.lending, owner.bridge.stats().sessions]).toEqual([0, 0, 1]);
  });

  it('is more of them while those that are lent have no room', async () => {
    const { lender, owner, wish, settle } = twoNodes();
    const workers = await Promise.all(
      Array.from({ length: 6 }, (_, number) => lender.join({ workerId: workerId(number + 1), slots: 1 })),
    );
    for (const worker of workers) worker.send({ credits: 1 });
    owner.bridge.dispatch(some(6));
    const looks: number[] = [];
    for (let look = 0; look < 2; look += 1) {
      await wish();
      for (const worker of workers) worker.send({ inventory: { holds: [] } });
      await settle();
      looks.push(workers.filter((worker) => tasksOf(worker).length > 0).length);
    }
    expect(looks).toEqual([4, 6]);
  });
});

describe('credits', () => {
  it('of the worker are never exceeded, and a part of its slots is kept', async () => {
    const { lender, owner, wish, settle } = twoNodes();
    const worker = await lender.join({ slots: 8 });
    worker.send({ credits: 8 });
    owner.bridge.dispatch(some(50));
    await wish();
    worker.send({ inventory: { holds: [] } });
    await settle();
    expect(tasksOf(worker)).toHaveLength(6);
    lender.bridge.dispatch(some(50, 100));
    await settle();
    expect(tasksOf(worker)).toHaveLength(8);
  });

  it('that were lent and are not used are called back when own tasks wait', async () => {
    const { lender, owner, wish, settle } = twoNodes();
    const worker = await lender.join({ slots: 8 });
    worker.send({ credits: 8 });
    owner.bridge.dispatch(some(6));
    await wish();
    worker.send({ inventory: { holds: [] } });
    // The owner has said how much it wants, and then wants less.
    owner.clock.settle();
    await promises();
    owner.clock.settle();
    owner.bridge.withdraw(some(5));
    await settle();
    expect(tasksOf(worker)).toHaveLength(1);
    lender.bridge.dispatch(some(2, 100));
    await settle();
    expect(tasksOf(worker)).toHaveLength(3);
    lender.bridge.dispatch(some(5, 200));
    await settle();
    expect(tasksOf(worker)).toHaveLength(8);
  });

  it('are shared when both have more than the worker can do', async () => {
    const { lender, owner, wish, settle } = twoNodes();
    const worker = await lender.join({ slots: 1 });
    lender.bridge.dispatch(some(20, 100));
    worker.send({ credits: 1 });
    owner.bridge.dispatch(some(20));
    await wish();
    worker.send({ inventory: { holds: [] } });
    await settle();
    const [ended, own] = [new Set<string>(), new Set(some(20, 100).map(({ runId: run }) => run))];
    const order: string[] = [];
    for (let time = 0; time < 12; time += 1) {
      order.push(own.has(endOne(worker, ended)) ? 'own' : 'other');
      for (const told of [lender, owner].map((node) => node.told.settled)) told.at(-1)?.answer('recorded');
      await settle();
    }
    expect([order.filter((who) => who === 'own').length, order.length]).toEqual([6, 12]);
    expect(runId(0)).toBe(some(1)[0]?.runId);
  });
});
