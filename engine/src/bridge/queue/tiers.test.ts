/** Whose turn it is: priorities with ageing, fairness keys, and tasks of several slots. */
import { describe, expect, it } from 'vitest';
import type { Task } from '../ports.js';
import { runId, task, tenantId } from '../testing/tasks.js';
import { AGE_MS, FairQueue, QUEUE_LIMITS, type Consumer } from './fair-queue.js';

function worker(queue: FairQueue<string>, name: string, room: number, tenant = 1): Consumer<string> {
  const workflows = [{ familySlug: 'flow', handlers: ['work', 'heavy'], pinnedVersion: null }];
  const consumer = queue.join(name, { tenantId: tenantId(tenant), queues: ['default'], workflows });
  queue.setRoom(consumer, room);
  return consumer;
}

let next = 0;

function fill(queue: FairQueue<string>, count: number, parts: Partial<Task>, nowMs = 0): void {
  for (let at = 0; at < count; at += 1) queue.push(task({ runId: runId((next += 1)), ...parts }), nowMs);
}

function takeAll(queue: FairQueue<string>, most = Number.POSITIVE_INFINITY): Task[] {
  const taken: Task[] = [];
  for (let one = queue.take(); one !== undefined; one = queue.take()) {
    taken.push(one.task);
    if (taken.length >= most) break;
  }
  return taken;
}

const count = (tasks: readonly Task[], parts: Partial<Task>): number =>
  tasks.filter((one) => Object.entries(parts).every(([key, value]) => Reflect.get(one, key) === value)).length;

describe('priorities', () => {
  it('give each tier twice as much as the next one, and starve none', () => {
    const queue = new FairQueue<string>();
    for (const priority of [1, 2, 3, 4, 5]) fill(queue, 200, { priority });
    worker(queue, 'a', 10_000);
    const first = takeAll(queue, 310);
    expect([1, 2, 3, 4, 5].map((priority) => count(first, { priority }))).toEqual([160, 80, 40, 20, 10]);
  });

  it('let what comes later and is more urgent go first', () => {
    const queue = new FairQueue<string>();
    fill(queue, 100, { priority: 5 });
    const consumer = worker(queue, 'a', 10);
    takeAll(queue);
    fill(queue, 5, { priority: 1 });
    queue.setRoom(consumer, 6);
    expect(count(takeAll(queue), { priority: 1 })).toBe(5);
  });

  it('move what has waited long up, one tier at a time', () => {
    const queue = new FairQueue<string>();
    fill(queue, 1, { priority: 5 }, 0);
    for (let tier = 4; tier > 0; tier -= 1) queue.age(AGE_MS * (5 - tier));
    // By now it is as urgent as what comes with the first priority, and came before.
    fill(queue, 3, { priority: 1 }, AGE_MS * 4);
    worker(queue, 'a', 1);
    expect(takeAll(queue).map(({ priority }) => priority)).toEqual([5]);
    const young = new FairQueue<string>();
    fill(young, 1, { priority: 5 }, 0);
    young.age(AGE_MS - 1);
    fill(young, 3, { priority: 1 }, AGE_MS);
    worker(young, 'a', 1);
    expect(takeAll(young).map(({ priority }) => priority)).toEqual([1]);
  });

  it('have limits of their own: a backlog keeps nothing urgent out, also once it has moved up', () => {
    const queue = new FairQueue<string>({ ...QUEUE_LIMITS, maxTasksPerTenant: 10 });
    fill(queue, 20, { priority: 5 });
    expect(queue.size).toBe(10);
    for (let tier = 1; tier < 5; tier += 1) queue.age(AGE_MS * tier);
    fill(queue, 10, { priority: 1 }, AGE_MS * 5);
    expect(queue.size).toBe(20);
    worker(queue, 'a', 100);
    takeAll(queue);
    expect(queue.takeRelieved()).toHaveLength(5);
    expect(queue.takeRelieved()).toHaveLength(5);
    expect(queue.takeRelieved()).toEqual([]);
  });
});

describe('fairness keys', () => {
  it('take turns, however much each has waiting', () => {
    const queue = new FairQueue<string>();
    fill(queue, 900, { fairnessKey: 'big' });
    fill(queue, 20, { fairnessKey: 'small' });
    worker(queue, 'a', 10_000);
    expect(count(takeAll(queue, 44), { fairnessKey: 'small' })).toBe(20);
    expect(takeAll(queue)).toHaveLength(876);
  });

  it('stand behind tenants: one with many keys gets no larger share', () => {
    const queue = new FairQueue<string>();
    for (let key = 0; key < 100; key += 1) fill(queue, 5, { fairnessKey: `k${key}` });
    fill(queue, 100, { tenantId: tenantId(2) });
    worker(queue, 'a', 10_000);
    worker(queue, 'b', 10_000, 2);
    expect(count(takeAll(queue, 200), { tenantId: tenantId(2) })).toBeGreaterThanOrEqual(64);
  });
});

describe('tasks of several slots', () => {
  it('take so much room of their session, and wait until one has it', () => {
    const queue = new FairQueue<string>();
    const consumer = worker(queue, 'a', 4);
    fill(queue, 2, { slots: 1 });
    takeAll(queue);
    fill(queue, 1, { slots: 4, handler: 'heavy' });
    expect(takeAll(queue)).toEqual([]);
    queue.setRoom(consumer, 3);
    expect(takeAll(queue)).toEqual([]);
    queue.setRoom(consumer, 4);
    expect(takeAll(queue).map(({ slots }) => slots)).toEqual([4]);
    expect(consumer.room).toBe(0);
  });

  it('are not starved by small ones: a session saves up for them', () => {
    const queue = new FairQueue<string>();
    const consumer = worker(queue, 'a', 4);
    fill(queue, 500, { slots: 1 });
    fill(queue, 1, { slots: 3, handler: 'heavy' });
    let room = 4;
    let rounds = 0;
    for (let taken: Task[] = []; count(taken, { slots: 3 }) === 0; rounds += 1) {
      taken = takeAll(queue);
      for (const { slots } of taken) room -= slots;
      expect(room).toBeGreaterThanOrEqual(0);
      // One small task ends at a time.
      room += 1;
      queue.setRoom(consumer, room);
      expect(rounds).toBeLessThan(20);
    }
  });

  it('take all of a session that has fewer', () => {
    const queue = new FairQueue<string>();
    worker(queue, 'a', 2);
    fill(queue, 1, { slots: 50 });
    expect(takeAll(queue).map(({ slots }) => slots)).toEqual([2]);
  });

  it('leave the room to others once they are gone', () => {
    const queue = new FairQueue<string>();
    const consumer = worker(queue, 'a', 2);
    fill(queue, 1, { slots: 1 });
    takeAll(queue);
    const heavy = task({ runId: runId(77_777), slots: 2, handler: 'heavy' });
    queue.push(heavy);
    fill(queue, 1, { slots: 1 });
    takeAll(queue);
    queue.setRoom(consumer, 1);
    queue.remove(heavy);
    fill(queue, 1, { slots: 1 });
    expect(takeAll(queue)).toHaveLength(1);
  });
});
