import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventHeap } from './event-heap.js';
import type { SimEvent } from './sim-event.js';

function event(atUs: number, tie: number, order: number): SimEvent {
  return { atUs, tie, order, actor: null, label: '', run: () => undefined, isCancelled: false };
}

it('gives events by time, then by the seeded number, then by order of scheduling', () => {
  const drawn = fc.array(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 3 })), { maxLength: 200 });
  fc.assert(
    fc.property(drawn, (pairs) => {
      const heap = new EventHeap();
      const events = pairs.map(([atUs, tie], order) => event(atUs, tie, order));
      for (const each of events) heap.push(each);
      const popped: SimEvent[] = [];
      for (let next = heap.pop(); next !== undefined; next = heap.pop()) popped.push(next);
      const sorted = [...events].sort((a, b) => a.atUs - b.atUs || a.tie - b.tie || a.order - b.order);
      expect(popped).toEqual(sorted);
    }),
  );
});
