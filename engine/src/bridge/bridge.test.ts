import { describe, expect, it } from 'vitest';
import { bridgeHarness, promises } from './testing/harness.js';
import { acksOf, resultOf, some, tasksOf } from './testing/seen.js';
import { runId, task, tenantId } from './testing/tasks.js';

describe('the end', () => {
  it('of a worker that has finished sending waits for its acknowledgements', async () => {
    const { join, clock, told, tokens } = bridgeHarness();
    const worker = await join();
    worker.send({ results: [resultOf(tokens.issue(task()), task())] });
    worker.events.finished();
    clock.settle();
    expect(worker.ending).toBeUndefined();
    told.settled[0]?.answer('recorded');
    clock.settle();
    expect(acksOf(worker)).toHaveLength(1);
    expect(worker.ending).toBeNull();
  });

  it('of the node is announced, and comes after what is still to be sent', async () => {
    const { join, bridge, clock, told, tokens } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 5 });
    bridge.drain();
    bridge.dispatch(some(1));
    clock.settle();
    expect(worker.received.at(-1)?.draining).toBe(true);
    expect(tasksOf(worker)).toEqual([]);
    worker.send({ results: [resultOf(tokens.issue(task()), task())] });
    told.settled[0]?.answer('recorded');
    bridge.close();
    expect(acksOf(worker)).toHaveLength(1);
    expect(worker.ending).toBeNull();
    await promises();
    clock.settle();
  });
});

describe('room', () => {
  it('refuses what is too much and tells when there is some again', async () => {
    const limits = { maxTasks: 100, maxBytes: 1e6, maxTasksPerTenant: 2 };
    const { join, bridge, clock, told } = bridgeHarness({ queueLimits: limits });
    bridge.dispatch(some(5));
    clock.settle();
    expect(bridge.stats()).toMatchObject({ queuedTasks: 2, refusedTasks: 3 });
    const worker = await join();
    worker.send({ credits: 5 });
    expect(told.rechecked).toEqual([2, 3, 4].map((run) => ({ tenantId: tenantId(1), runId: runId(run) })));
    bridge.dispatch(some(5));
    clock.settle();
    expect(tasksOf(worker)).toHaveLength(4);
  });

  it('forgets what waits of shards that move, and nothing that is out', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 1 });
    bridge.dispatch(some(3));
    clock.settle();
    bridge.dropShards([0, 1]);
    expect(bridge.stats()).toMatchObject({ queuedTasks: 1, attemptsOut: 1 });
  });
});
