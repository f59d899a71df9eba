/** Signs of life, what is taken back from the queue, and who could do what. */
import { describe, expect, it } from 'vitest';
import { MAX_PROGRESS_BYTES } from '../limits.js';
import { bridgeHarness, workerId } from '../testing/harness.js';
import { refOf, tasksOf, two } from '../testing/seen.js';
import { task, tenantId } from '../testing/tasks.js';

describe('a heartbeat', () => {
  it('reaches the coordinator with its progress, when its token proves the attempt', async () => {
    const { join, told, tokens } = bridgeHarness();
    const worker = await join();
    const mine = task();
    const { runId, path, attempt } = mine;
    const beat = { runId, path, attempt, token: tokens.issue(mine) };
    const progress = { data: Buffer.from('{"page":1}'), encoding: '' };
    const large = { data: Buffer.alloc(MAX_PROGRESS_BYTES + 1), encoding: 'json' };
    worker.send({
      heartbeats: [
        { ...beat, progress },
        beat,
        { ...beat, progress: large },
        { ...beat, token: tokens.issue({ ...mine, attempt: 2 }), progress },
        { ...beat, token: tokens.issue({ ...mine, tenantId: tenantId(2) }), progress },
      ],
    });
    expect(told.beats).toEqual([
      { ref: refOf(mine), progress: { data: progress.data, encoding: 'json' } },
      { ref: refOf(mine), progress: null },
      { ref: refOf(mine), progress: null },
    ]);
    expect(worker.ending).toBeUndefined();
  });
});

describe('a sign of life beside the streams', () => {
  const sign = { workerId: workerId(1), heartbeats: [], lagMs: 900 };

  it('keeps the streams of its worker open and reaches the coordinator, of that tenant alone', async () => {
    const { join, told, tokens, bridge, clock } = bridgeHarness();
    const worker = await join();
    const mine = task();
    const { runId, path, attempt } = mine;
    const beat = { runId, path, attempt, token: tokens.issue(mine), progress: undefined };
    const wrong = { ...beat, attempt: 2 };
    for (let seconds = 0; seconds < 60; seconds += 5) {
      clock.advance(5_000);
      clock.settle();
      bridge.beat({ tenantId: tenantId(1) }, { ...sign, heartbeats: [beat, wrong] });
    }
    expect(worker.ending).toBeUndefined();
    expect(told.beats).toEqual(Array.from({ length: 12 }, () => ({ ref: refOf(mine), progress: null })));
    expect(new Set(told.alive)).toEqual(new Set([`${tenantId(1)}/${workerId(1)}`]));
    for (let seconds = 0; seconds < 30; seconds += 5) {
      clock.advance(5_000);
      clock.settle();
      bridge.beat({ tenantId: tenantId(2) }, { ...sign, heartbeats: [beat] });
    }
    expect(worker.ending?.code).toBe('worker_unresponsive');
    expect(told.beats).toHaveLength(12);
  });
});

describe('a withdrawal', () => {
  it('takes back what nobody has, and leaves what a worker has with it', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const worker = await join();
    const [out, queued] = two();
    worker.send({ credits: 1 });
    bridge.dispatch([out]);
    clock.settle();
    bridge.dispatch([queued]);
    bridge.withdraw([out, queued]);
    worker.send({ credits: 5 });
    expect(tasksOf(worker)).toEqual([out.runId]);
    expect(bridge.stats()).toMatchObject({ queuedTasks: 0, attemptsOut: 1 });
    bridge.dispatch([queued]);
    clock.settle();
    expect(tasksOf(worker)).toEqual([out.runId, queued.runId]);
  });
});

describe('what a node knows of its workers', () => {
  it('is who has an attempt, and how many could take one', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const mine = task();
    const kind = { queue: 'default', familySlug: 'flow', handler: 'work', version: 1 };
    expect(bridge.workersFor(tenantId(1), kind)).toBe(0);
    const worker = await join();
    expect(bridge.workersFor(tenantId(1), kind)).toBe(1);
    expect(bridge.workersFor(tenantId(1), { ...kind, handler: 'other' })).toBe(0);
    expect(bridge.workersFor(tenantId(1), { ...kind, queue: 'gpu' })).toBe(0);
    expect(bridge.workersFor(tenantId(2), kind)).toBe(0);
    expect(bridge.workerOf(mine)).toBeUndefined();
    worker.send({ credits: 1 });
    bridge.dispatch([mine]);
    clock.settle();
    expect(bridge.workerOf(mine)).toBe(`${tenantId(1)}/${workerId(1)}`);
    worker.events.gone();
    expect(bridge.workerOf(mine)).toBeUndefined();
    expect(bridge.workersFor(tenantId(1), kind)).toBe(0);
  });
});
