import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Task } from '../ports.js';
import { runId, task, tenantId } from '../testing/tasks.js';
import type { Capability } from './capability.js';
import { FairQueue, QUEUE_LIMITS, type Consumer } from './fair-queue.js';

const can = (parts: Partial<Capability> = {}): Capability => ({
  tenantId: tenantId(1),
  queues: ['default'],
  workflows: [{ familySlug: 'flow', handlers: ['work'], pinnedVersion: null }],
  ...parts,
});

/** Takes until there is nothing more to take. */
function drain<S>(queue: FairQueue<S>, most = Number.POSITIVE_INFINITY): { task: Task; session: S }[] {
  const taken: { task: Task; session: S }[] = [];
  while (taken.length < most) {
    const next = queue.take();
    if (next === undefined) break;
    taken.push({ task: next.task, session: next.consumer.session });
  }
  return taken;
}

function joined(
  queue: FairQueue<string>,
  session: string,
  room: number,
  parts?: Partial<Capability>,
): Consumer<string> {
  const consumer = queue.join(session, can(parts));
  queue.setRoom(consumer, room);
  return consumer;
}

describe('matching', () => {
  it('gives a task to a session of its tenant with its queue, workflow and handler', () => {
    const queue = new FairQueue<string>();
    queue.push(task());
    joined(queue, 'other tenant', 9, { tenantId: tenantId(2) });
    joined(queue, 'other queue', 9, { queues: ['slow'] });
    joined(queue, 'other flow', 9, { workflows: [{ familySlug: 'x', handlers: ['work'], pinnedVersion: null }] });
    joined(queue, 'other handler', 9, { workflows: [{ familySlug: 'flow', handlers: ['x'], pinnedVersion: null }] });
    joined(queue, 'other version', 9, { workflows: [{ familySlug: 'flow', handlers: ['work'], pinnedVersion: 2 }] });
    expect(drain(queue)).toEqual([]);
    joined(queue, 'right', 9);
    expect(drain(queue).map(({ session }) => session)).toEqual(['right']);
  });

  it('gives a pinned session its version only, an unpinned one any', () => {
    const queue = new FairQueue<string>();
    for (const version of [1, 2, 3]) queue.push(task({ version, runId: runId(version) }));
    joined(queue, 'pinned', 9, { workflows: [{ familySlug: 'flow', handlers: ['work'], pinnedVersion: 2 }] });
    expect(drain(queue).map((taken) => taken.task.version)).toEqual([2]);
    joined(queue, 'any', 9);
    expect(drain(queue).map((taken) => taken.task.version)).toEqual([1, 3]);
  });
});

describe('room', () => {
  it('is never passed, and shared in turn', () => {
    const queue = new FairQueue<string>();
    for (let run = 0; run < 10; run += 1) queue.push(task({ runId: runId(run) }));
    joined(queue, 'a', 2);
    const b = joined(queue, 'b', 3);
    expect(drain(queue).map(({ session }) => session)).toEqual(['a', 'b', 'a', 'b', 'b']);
    expect(queue.unservedFor(b)).toBe(5);
    queue.setRoom(b, 1);
    expect(queue.unservedFor(b)).toBe(0);
    expect(drain(queue)).toHaveLength(1);
    expect(queue.size).toBe(4);
  });

  it('of a session that left is gone', () => {
    const queue = new FairQueue<string>();
    queue.push(task());
    queue.leave(joined(queue, 'a', 5));
    expect(drain(queue)).toEqual([]);
    expect(queue.hasWork).toBe(false);
  });
});

describe('turns', () => {
  it('gives tenants the same share, however much each has waiting', () => {
    const queue = new FairQueue<string>();
    for (let run = 0; run < 5_000; run += 1) queue.push(task({ runId: runId(run) }));
    for (let run = 0; run < 50; run += 1) queue.push(task({ runId: runId(10_000 + run), tenantId: tenantId(2) }));
    joined(queue, 'big', 100_000);
    joined(queue, 'small', 100_000, { tenantId: tenantId(2) });
    const first = drain(queue, 128).map(({ session }) => session);
    expect(first.filter((session) => session === 'small')).toHaveLength(50);
  });

  it('counts large inputs for more', () => {
    const queue = new FairQueue<string>();
    const large = { data: new Uint8Array(1024 * 1024), encoding: 'json' };
    for (let run = 0; run < 20; run += 1) queue.push(task({ runId: runId(run), input: large }));
    for (let run = 0; run < 2_000; run += 1) queue.push(task({ runId: runId(100 + run), tenantId: tenantId(2) }));
    joined(queue, 'large', 100_000);
    joined(queue, 'small', 100_000, { tenantId: tenantId(2) });
    const first = drain(queue, 1_000).map(({ session }) => session);
    expect(first.filter((session) => session === 'large').length).toBeLessThanOrEqual(6);
  });

  it('goes round the workflows of a tenant', () => {
    const queue = new FairQueue<string>();
    for (let run = 0; run < 100; run += 1) queue.push(task({ runId: runId(run) }));
    queue.push(task({ runId: runId(1_000), familySlug: 'late' }));
    const workflows = ['flow', 'late'].map((familySlug) => ({ familySlug, handlers: ['work'], pinnedVersion: null }));
    joined(queue, 'a', 9, { workflows });
    expect(drain(queue, 3).map((taken) => taken.task.familySlug)).toContain('late');
  });
});

describe('limits', () => {
  it('refuses what is too much for a tenant, and names its runs when there is room again', () => {
    const queue = new FairQueue<string>({ ...QUEUE_LIMITS, maxTasksPerTenant: 4 });
    const outcomes = [0, 1, 2, 3, 4].map((run) => queue.push(task({ runId: runId(run) })));
    expect(outcomes).toEqual(['queued', 'queued', 'queued', 'queued', 'full']);
    expect(queue.push(task({ runId: runId(9), tenantId: tenantId(2) }))).toBe('queued');
    const consumer = joined(queue, 'a', 1);
    drain(queue);
    expect(queue.takeRelieved()).toEqual([]);
    queue.setRoom(consumer, 1);
    drain(queue);
    expect(queue.takeRelieved()).toEqual([{ tenantId: tenantId(1), runId: runId(4) }]);
    expect(queue.takeRelieved()).toEqual([]);
  });

  it('refuses what is too much for the node, in tasks and in bytes', () => {
    const tasks = new FairQueue<string>({ ...QUEUE_LIMITS, maxTasks: 1 });
    expect([tasks.push(task()), tasks.push(task({ runId: runId(2) }))]).toEqual(['queued', 'full']);
    const bytes = new FairQueue<string>({ ...QUEUE_LIMITS, maxBytes: 10 });
    expect([bytes.push(task()), bytes.push(task({ runId: runId(2) }))]).toEqual(['queued', 'full']);
    bytes.remove(task());
    expect(bytes.bytes).toBe(0);
    expect(bytes.push(task({ runId: runId(2) }))).toBe('queued');
  });
});

describe('taking out', () => {
  it('knows an attempt once, and forgets it by attempt or by shard', () => {
    const queue = new FairQueue<string>();
    expect([queue.push(task()), queue.push(task()), queue.push(task({ attempt: 2 }))]).toEqual([
      'queued',
      'known',
      'queued',
    ]);
    expect(queue.remove(task({ attempt: 2 }))?.attempt).toBe(2);
    expect(queue.remove(task({ attempt: 2 }))).toBeUndefined();
    queue.push(task({ runId: runId(0x102) }));
    expect(queue.removeShards([2, 7])).toBe(1);
    expect(queue.size).toBe(1);
  });
});

describe('any sequence of calls', () => {
  const call = fc.oneof(
    { weight: 4, arbitrary: fc.record({ call: fc.constant('push' as const), n: fc.nat(40), flow: fc.nat(2) }) },
    { weight: 3, arbitrary: fc.record({ call: fc.constant('take' as const), n: fc.nat(3), flow: fc.constant(0) }) },
    { weight: 2, arbitrary: fc.record({ call: fc.constant('room' as const), n: fc.nat(7), flow: fc.nat(3) }) },
    {
      weight: 1,
      arbitrary: fc.record({ call: fc.constantFrom('join' as const, 'leave' as const), n: fc.nat(7), flow: fc.nat(3) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        call: fc.constantFrom('remove' as const, 'shard' as const),
        n: fc.nat(40),
        flow: fc.nat(2),
      }),
    },
  );
  const taskOf = (n: number, flow: number): Task =>
    task({ runId: runId(n), tenantId: tenantId(n % 3), familySlug: `flow-${flow}`, version: 1 + (n % 2) });

  it('agrees with a queue that looks at everything', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 120 }), (calls) => {
        const queue = new FairQueue<number>({ ...QUEUE_LIMITS, maxTasksPerTenant: 10 });
        const waiting = new Map<string, Task>();
        const sessions = new Map<number, { consumer: Consumer<number>; does: Capability; room: number }>();
        const keyOf = (it: Task): string => `${it.runId}`;
        const accepts = (does: Capability, it: Task): boolean =>
          does.tenantId === it.tenantId &&
          does.workflows.some(
            ({ familySlug, pinnedVersion }) =>
              familySlug === it.familySlug && (pinnedVersion === null || pinnedVersion === it.version),
          );
        for (const { call: name, n, flow } of calls) {
          if (name === 'push') {
            const it = taskOf(n, flow);
            const mine = [...waiting.values()].filter((other) => other.tenantId === it.tenantId).length;
            const expected = waiting.has(keyOf(it)) ? 'known' : mine >= 10 ? 'full' : 'queued';
            expect(queue.push(it)).toBe(expected);
            if (expected === 'queued') waiting.set(keyOf(it), it);
          } else if (name === 'join' && !sessions.has(n)) {
            const workflows = [0, flow % 3].map((number) => ({
              familySlug: `flow-${number}`,
              handlers: ['work'],
              pinnedVersion: flow === 3 ? 1 : null,
            }));
            const does = can({ tenantId: tenantId(n % 3), workflows: flow === 3 ? workflows.slice(0, 1) : workflows });
            sessions.set(n, { consumer: queue.join(n, does), does, room: 0 });
          } else if (name === 'leave') {
            const session = sessions.get(n);
            if (session !== undefined) queue.leave(session.consumer);
            sessions.delete(n);
          } else if (name === 'room') {
            const session = sessions.get(n);
            if (session === undefined) continue;
            session.room = flow;
            queue.setRoom(session.consumer, flow);
          } else if (name === 'remove') {
            expect(queue.remove(taskOf(n, flow)) !== undefined).toBe(waiting.delete(keyOf(taskOf(n, flow))));
          } else if (name === 'shard') {
            expect(queue.removeShards([n])).toBe(waiting.delete(runId(n)) ? 1 : 0);
          } else if (name === 'take') {
            const next = queue.take();
            const isPossible = [...sessions.values()].some(
              ({ does, room }) => room > 0 && [...waiting.values()].some((it) => accepts(does, it)),
            );
            expect(next !== undefined).toBe(isPossible);
            if (next === undefined) continue;
            const session = sessions.get(next.consumer.session);
            expect(session !== undefined && session.room > 0 && accepts(session.does, next.task)).toBe(true);
            expect(waiting.delete(keyOf(next.task))).toBe(true);
            if (session !== undefined) session.room -= 1;
          }
          expect(queue.size).toBe(waiting.size);
        }
      }),
      { numRuns: 500 },
    );
  });
});
