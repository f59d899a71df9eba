import { describe, expect, it } from 'vitest';
import { manualClock } from '../../kernel/testing/manual-clock.js';
import { seededRandom } from '../../kernel/index.js';
import { CoordinatorKit } from '../testing/coordinator-kit.js';
import { planOf, RUN_INPUT, edge } from '../testing/plan-builder.js';
import { jsonValue } from '../machine/index.js';
import { WakeTimers } from './wake-timers.js';

/** A plan that waits so many ms. */
function waits(ms: number) {
  return planOf({
    steps: {
      pause: { type: 'WAIT', wakeAtUs: (_, nowUs) => nowUs + ms * 1000 },
      after: { type: 'CALLBACK', input: RUN_INPUT },
    },
    edges: [edge('pause', 'after')],
  });
}

describe('wake timers', () => {
  it('fire in order, never early, whatever the error of the clock', () => {
    const manual = manualClock();
    let errorUs = 700;
    const clock = { ...manual, errorUs: () => errorUs };
    const random = seededRandom(3);
    const dueOf = new Map<string, number>();
    const fired: string[] = [];
    const timers = new WakeTimers(clock, (keys) => {
      for (const key of keys) {
        expect(clock.nowUs() - clock.errorUs()).toBeGreaterThanOrEqual(dueOf.get(key) ?? Number.NaN);
        fired.push(key);
      }
    });
    for (let n = 0; n < 3_000; n += 1) {
      const dueUs = clock.nowUs() + (random.uint32() % 5_000_000);
      dueOf.set(`run ${n}`, dueUs);
      timers.arm(`run ${n}`, dueUs);
      if (n % 3 === 0) timers.disarm(`run ${n}`);
      if (n % 7 === 0) timers.arm(`run ${n}`, dueUs);
    }
    const armed = timers.size;
    for (let ms = 0; ms < 6_000; ms += 13) {
      errorUs = random.uint32() % 20_000;
      manual.advance(13);
    }
    expect(fired.length).toBe(armed);
    expect(timers.size).toBe(0);
    const order = fired.map((key) => dueOf.get(key) ?? 0);
    expect(order.every((dueUs, at) => at === 0 || dueUs - (order[at - 1] ?? 0) > -1_000_000)).toBe(true);
  });

  it('replace a due time, earlier or later', () => {
    const clock = manualClock();
    const fired: string[] = [];
    const timers = new WakeTimers(clock, (keys) => fired.push(...keys));
    timers.arm('a', clock.nowUs() + 1_000_000);
    timers.arm('a', clock.nowUs() + 100_000);
    timers.arm('b', clock.nowUs() + 100_000);
    timers.arm('b', clock.nowUs() + 1_000_000);
    clock.advance(110);
    expect(fired).toEqual(['a']);
    clock.advance(1_000);
    expect(fired).toEqual(['a', 'b']);
  });
});

describe('runs that wait', () => {
  it('a thousand due at once share a batch', async () => {
    const kit = new CoordinatorKit({ plans: [waits(5_000)] });
    const node = kit.node();
    await kit.flush();
    await kit.start(node, 1_000);
    await kit.pass(4_950);
    expect(node.invoker.dispatched.length).toBe(0);
    await kit.pass(100);
    expect(node.batches.map((batch) => batch.runs)).toEqual([1_000, 1_000]);
    expect(node.invoker.dispatched.length).toBe(1_000);
  });

  it('beyond the horizon stay on disk, and wake in time', async () => {
    const kit = new CoordinatorKit({ plans: [waits(200_000)] });
    const sizes: number[] = [];
    const node = kit.node();
    await kit.flush();
    const runs = await kit.start(node, 30);
    await kit.pass(199_900, 500);
    expect(node.invoker.dispatched.length).toBe(0);
    await kit.pass(200);
    expect(node.invoker.dispatched.length).toBe(30);
    expect(sizes.length).toBe(0);
    expect(runs.every((run) => kit.stored(run.runId)?.status === 'RUNNING')).toBe(true);
  });

  it('are taken over with their time', async () => {
    const kit = new CoordinatorKit({ plans: [waits(20_000)] });
    const node = kit.node();
    await kit.flush();
    await kit.start(node, 10);
    kit.kill(node);
    const heir = kit.node();
    await kit.pass(19_900, 100);
    expect(heir.invoker.dispatched.length).toBe(0);
    await kit.pass(200);
    expect(heir.invoker.dispatched.length).toBe(10);
  });
});

describe('the cache', () => {
  it('keeps its bound, and every run ends all the same', async () => {
    const kit = new CoordinatorKit({ plans: [waits(3_000)] });
    const node = kit.node({ cacheBytes: 64 * 1024, loadPageRuns: 50 });
    await kit.flush();
    const input = jsonValue('x'.repeat(1_000));
    const starts = Array.from({ length: 400 }, () => node.coordinator.start(kit.request({ input })));
    await kit.flush();
    const runs = await Promise.all(starts);
    await kit.pass(4_000);
    expect(node.invoker.dispatched.length).toBe(400);
    node.coordinator.workerConnected('worker-1', []);
    const acks = kit.settle(node, kit.take(node, 'worker-1'));
    await kit.pass(500);
    expect(acks.length).toBe(400);
    expect(runs.every((run) => kit.stored(run.runId)?.status === 'COMPLETED')).toBe(true);
    expect(kit.db.violations).toEqual([]);
  });
});
