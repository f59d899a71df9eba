import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../kernel/testing/manual-clock.js';
import { delayQueue } from './delay-queue.js';
import { DueHeap } from './due-heap.js';
import { Fifo } from './fifo.js';

describe('delayQueue', () => {
  it('hands out in order, never early, at most a twentieth late, with one timer', () => {
    const clock = manualClock();
    const out: [number, number][] = [];
    const queue = delayQueue<number>(clock, 1_000, (items) =>
      out.push(...items.map((at): [number, number] => [at, clock.monotonicMs()])),
    );
    for (let n = 0; n < 300; n += 1) {
      queue.push(clock.monotonicMs());
      clock.advance(7);
    }
    clock.advance(2_000);
    expect(out.length).toBe(300);
    expect(out.map(([at]) => at)).toEqual(out.map((_, n) => n * 7));
    expect(out.every(([at, now]) => now - at >= 1_000 && now - at <= 1_050)).toBe(true);
  });

  it('forgets what it is told to forget', () => {
    const clock = manualClock();
    let count = 0;
    const queue = delayQueue<number>(clock, 100, (items) => (count += items.length));
    queue.push(1);
    queue.clear();
    clock.advance(500);
    expect(count).toBe(0);
    queue.push(2);
    clock.advance(200);
    expect(count).toBe(1);
  });
});

describe('Fifo', () => {
  it('behaves as an array', () => {
    const step = fc.oneof(
      fc.record({ push: fc.nat() }),
      fc.record({ unshift: fc.nat() }),
      fc.constant('shift' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const [fifo, model] = [new Fifo<number>(), [] as number[]];
        for (const each of steps) {
          if (each === 'shift') expect(fifo.shift()).toBe(model.shift());
          else if ('push' in each) {
            fifo.push(each.push);
            model.push(each.push);
          } else {
            fifo.unshift(each.unshift);
            model.unshift(each.unshift);
          }
          expect(fifo.size).toBe(model.length);
        }
      }),
    );
  });

  it('stays small when it is long-lived', () => {
    const fifo = new Fifo<number>();
    for (let n = 0; n < 10_000; n += 1) {
      fifo.push(n);
      expect(fifo.shift()).toBe(n);
    }
    expect(fifo.size).toBe(0);
  });
});

describe('DueHeap', () => {
  it('pops by due time, then by order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (dues) => {
        const heap = new DueHeap();
        dues.forEach((dueUs, order) => heap.push({ key: `${order}`, dueUs, order }));
        const popped = dues.map(() => heap.pop());
        const sorted = dues
          .map((dueUs, order) => ({ dueUs, order }))
          .sort((a, b) => a.dueUs - b.dueUs || a.order - b.order);
        expect(popped.map((due) => due?.order)).toEqual(sorted.map((due) => due.order));
        expect(heap.pop()).toBeUndefined();
      }),
    );
  });
});
