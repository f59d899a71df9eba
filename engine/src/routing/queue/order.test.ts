import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QUEUE_DEFAULTS } from '../pipeline/queueing.js';
import { goesFirst, type Ordered } from './order.js';

const MINUTE_US = 60_000_000;
const START_US = 1_783_766_700_000_000;
const work = fc.record({
  priority: fc.integer({ min: -1_000_000, max: 1_000_000 }),
  queuedUs: fc.integer({ min: 0, max: 40_000_000_000 }).map((us) => START_US + us),
});
const later = fc.integer({ min: 0, max: 90 * 86_400_000_000 });

describe('the order of a queue', () => {
  it('lets nothing be overtaken for ever: only by work that is more urgent, and not by what comes in late', () => {
    const weights = fc.integer({ min: 1, max: 1000 });
    fc.assert(
      fc.property(
        work,
        weights,
        fc.integer({ min: -1_000_000, max: 1_000_000 }),
        later,
        (waits, weight, urgent, us) => {
          const queue = { ...QUEUE_DEFAULTS, ageWeight: weight };
          const nowUs = waits.queuedUs + us;
          if (goesFirst(queue, waits, urgent, nowUs)) return;
          expect(urgent).toBeGreaterThan(waits.priority);
          // So many minutes after it nothing of this priority overtakes it any more.
          const minutes = (urgent - waits.priority) / weight;
          expect(us / MINUTE_US).toBeLessThan(minutes + 1e-6);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('says the same of two works whenever one asks', () => {
    fc.assert(
      fc.property(work, work, fc.integer({ min: 0, max: 1000 }), later, (a, b, weight, us) => {
        const queue = { ...QUEUE_DEFAULTS, ageWeight: weight };
        const [first, second]: [Ordered, Ordered] = a.queuedUs <= b.queuedUs ? [a, b] : [b, a];
        const margin = second.priority - first.priority - ((second.queuedUs - first.queuedUs) / MINUTE_US) * weight;
        fc.pre(Math.abs(margin) > 1e-3);
        // When the second one comes in, and ever after: by how much one is ahead stays what it is.
        expect(goesFirst(queue, first, second.priority, second.queuedUs)).toBe(margin < 0);
        const grown = second.priority + (us / MINUTE_US) * weight;
        expect(goesFirst(queue, first, grown, second.queuedUs + us)).toBe(margin < 0);
      }),
      { numRuns: 500 },
    );
  });

  it('is first in first out, or last in first out, whatever the priority', () => {
    const waits = { priority: 0, queuedUs: START_US };
    for (const priority of [-9, 0, 9]) {
      expect(goesFirst({ ...QUEUE_DEFAULTS, order: 'fifo' }, waits, priority, START_US)).toBe(true);
      expect(goesFirst({ ...QUEUE_DEFAULTS, order: 'lifo' }, waits, priority, START_US)).toBe(false);
    }
  });
});
