import { describe, expect, it } from 'vitest';
import { promises, type FakeWorker } from '../testing/harness.js';
import { abortsOf, acksOf, refOf, resultOf, some, tasksOf } from '../testing/seen.js';
import { runId, task, tenantId } from '../testing/tasks.js';
import { twoNodes, type TwoNodes } from '../testing/two-nodes.js';

/** A worker with so many credits at the lender, and tasks of the owner that nobody there serves. */
async function lent(tasks: number, credits = 10): Promise<TwoNodes & { readonly worker: FakeWorker }> {
  const nodes = twoNodes();
  const worker = await nodes.lender.join({ slots: credits });
  worker.send({ credits });
  nodes.owner.bridge.dispatch(some(tasks));
  await nodes.wish();
  // The worker is asked what it has before it is lent.
  worker.send({ inventory: { holds: [] } });
  await nodes.settle();
  return { ...nodes, worker };
}

/** The worker's result of a task that it was given, by its run. */
function answer(worker: FakeWorker, run: string, resultId = 1n): void {
  const given = worker.received.flatMap(({ tasks }) => tasks).find((one) => one.runId === run);
  const ref = { tenantId: tenantId(1), runId: run, path: 'work', attempt: 1 };
  worker.send({ results: [resultOf(given?.token ?? Buffer.alloc(0), ref, { resultId })], credits: 1 });
}

const name = `${tenantId(1)}/00000000-0000-4000-8000-000000000001`;

describe('a worker that is lent', () => {
  it('gets the tasks of the other node, whose books alone hold them', async () => {
    const { lender, owner, worker } = await lent(3);
    expect(tasksOf(worker)).toEqual(some(3).map(({ runId: run }) => run));
    expect(owner.told.sent).toMatchObject([{ worker: name, refs: some(3).map(refOf) }]);
    expect(lender.told.sent).toEqual([]);
    expect(lender.bridge.stats()).toMatchObject({ attemptsOut: 0, relays: { lending: 1, carried: 3 } });
    expect(owner.bridge.stats()).toMatchObject({ attemptsOut: 3, relays: { borrowed: 1, given: 3 } });
  });

  it('has its results acknowledged by the other node, under its own numbers', async () => {
    const { lender, owner, worker, settle } = await lent(2);
    answer(worker, runId(1), 77n);
    await settle();
    expect(owner.told.settled).toMatchObject([{ ref: { runId: runId(1) }, outcome: { kind: 'completed' } }]);
    expect(acksOf(worker)).toEqual([]);
    owner.told.settled[0]?.answer('recorded');
    await settle();
    expect(acksOf(worker)).toMatchObject([{ resultId: 77n, state: 1 }]);
    expect([lender.told.settled, owner.bridge.stats().attemptsOut]).toEqual([[], 1]);
  });

  it('has signs of life, parts of work and orders to stop passed on', async () => {
    const { lender, owner, worker, settle } = await lent(1);
    const [given] = worker.received.flatMap(({ tasks }) => tasks);
    const { token = Buffer.alloc(0) } = given ?? {};
    const attempt = { runId: runId(0), path: 'work', attempt: 1, token };
    const output = { data: Buffer.from('5'), encoding: 'json' };
    worker.send({ heartbeats: [{ ...attempt, progress: output }] });
    worker.send({ subResults: [{ ...attempt, resultId: 9n, name: 'part', output }] });
    const beat = { ...attempt, progress: undefined };
    const [, workerId = ''] = name.split('/');
    lender.bridge.beat({ tenantId: tenantId(1) }, { workerId, heartbeats: [beat], lagMs: 0 });
    await settle();
    expect(owner.told.beats.map(({ progress }) => progress?.encoding)).toEqual(['json', undefined]);
    owner.told.kept[0]?.answer('recorded');
    owner.bridge.abort([{ ...refOf(task({ runId: runId(0) })), reason: 'cancelled' }]);
    await settle();
    expect(acksOf(worker)).toMatchObject([{ resultId: 9n }]);
    expect(abortsOf(worker)).toMatchObject([{ runId: runId(0), reason: 'cancelled' }]);
    expect([lender.told.kept, lender.told.settled]).toEqual([[], []]);
  });

  it('is asked what it holds when the other node asks', async () => {
    const { owner, worker, settle } = await lent(1);
    owner.bridge.inventory();
    await settle();
    expect(worker.received.at(-1)?.inventoryRequest).toBe(true);
    worker.send({ inventory: { holds: [] } });
    await settle();
    expect(owner.told.connected.at(-1)).toMatchObject({ worker: name, holds: some(1).map(refOf) });
  });
});

describe('the loss', () => {
  it('of the worker is one for the other node at once', async () => {
    const { owner, worker, settle, lines } = await lent(2);
    worker.events.gone();
    await settle();
    expect([owner.told.gone, lines.size]).toEqual([[name], 0]);
    expect(owner.bridge.stats().sessions).toBe(0);
  });

  it('of the line hands in here what was not acknowledged there', async () => {
    const { lender, owner, worker, settle, cut } = await lent(2);
    answer(worker, runId(0), 5n);
    await settle();
    await cut();
    expect(owner.told.gone).toEqual([name]);
    expect(lender.told.settled).toMatchObject([{ ref: refOf(task({ runId: runId(0) })) }]);
    lender.told.settled[0]?.answer('recorded');
    await settle();
    expect(acksOf(worker)).toMatchObject([{ resultId: 5n, state: 1 }]);
    // What ends later goes the same way.
    answer(worker, runId(1), 6n);
    expect(lender.told.settled).toHaveLength(2);
  });

  it('of the line gives the credits back that were not used', async () => {
    const { lender, owner, wish, settle, cut } = twoNodes();
    const worker = await lender.join();
    worker.send({ credits: 10 });
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
    await cut();
    lender.bridge.dispatch(some(20, 100));
    await settle();
    expect(tasksOf(worker)).toHaveLength(1 + 9);
  });

  it('of the node at the other end is seen when it is no member any more', async () => {
    const { lender, owner, settle, lines } = await lent(1);
    lender.bridge.lookAtRelays(new Set(['lender']));
    await settle();
    expect([lines.size, owner.told.gone]).toEqual([0, [name]]);
  });
});

describe('an end in order', () => {
  it('comes when there was nothing to do for long', async () => {
    const { lender, owner, worker, settle, lines, advance } = await lent(1);
    const look = async (): Promise<void> => {
      await advance(31_000);
      lender.bridge.lookAtRelays(new Set(['lender', 'owner']));
      await settle();
    };
    for (const ping of worker.received) if (ping.ping > 0n) worker.send({ pong: ping.ping });
    answer(worker, runId(0));
    await settle();
    owner.told.settled[0]?.answer('recorded');
    await settle();
    expect(lines.size).toBe(1);
    await look();
    expect([lines.size, lender.bridge.stats().relays.lending]).toEqual([0, 0]);
  });

  it('comes when the worker has a stream of its own to the other node', async () => {
    const { owner, worker, settle, lines } = await lent(1);
    const own = await owner.join({ slots: 10 });
    await settle();
    own.send({ credits: 5 });
    owner.bridge.dispatch(some(3, 50));
    await settle();
    expect(tasksOf(own)).toHaveLength(3);
    expect(lines.size).toBe(1);
    answer(worker, runId(0));
    await settle();
    owner.told.settled[0]?.answer('recorded');
    await settle();
    expect(lines.size).toBe(0);
    expect(acksOf(worker)).toHaveLength(1);
  });

  it('lets what runs end when the lender drains', async () => {
    const { lender, owner, worker, settle, lines } = await lent(1);
    lender.bridge.drain();
    await settle();
    owner.bridge.dispatch(some(1, 60));
    await settle();
    expect(tasksOf(worker)).toHaveLength(1);
    answer(worker, runId(0));
    await settle();
    owner.told.settled[0]?.answer('recorded');
    await settle();
    expect([acksOf(worker).length, lines.size]).toEqual([1, 0]);
  });
});
