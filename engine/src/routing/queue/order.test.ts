import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QUEUE_DEFAULTS } from '../pipeline/queueing.js';
import { weightsOf, type QueueSettings } from '../pipeline/settings.js';
import { goesFirst, orderedOf, rankOf, type Ordered } from './order.js';

const MINUTE_US = 60_000_000;
const DAY_US = 86_400_000_000;
const START_US = 1_783_766_700_000_000;
const priority = fc.integer({ min: -1_000_000, max: 1_000_000 });
const work = fc
  .record({
    priority,
    queuedUs: fc.integer({ min: 0, max: 40_000_000_000 }).map((us) => START_US + us),
    cameInBeforeUs: fc.integer({ min: 0, max: 30 * DAY_US }),
  })
  .map(({ cameInBeforeUs, ...rest }): Ordered => ({ ...rest, clockUs: rest.queuedUs - cameInBeforeUs }));
const later = fc.integer({ min: 0, max: 90 * DAY_US });
const weight = fc.integer({ min: 0, max: 1000 });
const queues = fc
  .record({ ageWeight: weight, boost: weight })
  .map((weights): QueueSettings => ({ ...QUEUE_DEFAULTS, ...weights }));

/** The score at a moment as users are told, in us of priority, counted exactly. */
function scoreOf({ ageWeight, boost }: QueueSettings, { priority: of, queuedUs, clockUs }: Ordered, nowUs: number) {
  const us = [of * MINUTE_US, (nowUs - queuedUs) * ageWeight, (nowUs - clockUs) * boost];
  return us.reduce((sum, each) => sum + BigInt(each), 0n);
}

const down = (a: bigint, b: bigint): number => (a === b ? 0 : a > b ? -1 : 1);

describe('the order of a queue', () => {
  it('is that of the scores, whenever one asks: what all of them grow by plays no part', () => {
    fc.assert(
      fc.property(fc.array(work, { maxLength: 20 }), queues, later, (works, queue, us) => {
        const nowUs = START_US + 40_000_000_000 + us;
        const naive = works.toSorted((a, b) => down(scoreOf(queue, a, nowUs), scoreOf(queue, b, nowUs)));
        expect(works.toSorted((a, b) => down(rankOf(queue, a), rankOf(queue, b)))).toEqual(naive);
      }),
      { numRuns: 500 },
    );
  });

  it('lets work that comes in pass what waits exactly where its score is higher', () => {
    fc.assert(
      fc.property(work, work, queues, (waiting, other, queue) => {
        const nowUs = Math.max(waiting.queuedUs, other.queuedUs);
        const coming = { ...other, queuedUs: nowUs };
        const isAhead = scoreOf(queue, waiting, nowUs) >= scoreOf(queue, coming, nowUs);
        expect(goesFirst(queue, waiting, coming)).toBe(isAhead);
      }),
      { numRuns: 500 },
    );
  });

  it('lets nothing be overtaken for ever: only by work that is more urgent, and not by what comes in late', () => {
    const weights = fc.integer({ min: 1, max: 1000 });
    fc.assert(
      fc.property(work, weights, weight, priority, later, (waits, ageWeight, boost, urgent, us) => {
        const queue = { ...QUEUE_DEFAULTS, ageWeight, boost };
        const nowUs = waits.queuedUs + us;
        if (goesFirst(queue, waits, { priority: urgent, queuedUs: nowUs, clockUs: nowUs })) return;
        expect(urgent).toBeGreaterThan(waits.priority);
        // So many minutes after it nothing of this priority overtakes it any more.
        const minutes = (urgent - waits.priority) / (ageWeight + boost);
        expect(us / MINUTE_US).toBeLessThan(minutes + 1e-6);
      }),
      { numRuns: 500 },
    );
  });

  it('is first in first out, or last in first out, whatever the priority', () => {
    const waits = { priority: 0, queuedUs: START_US, clockUs: START_US };
    for (const urgent of [-9, 0, 9]) {
      const coming = { ...waits, priority: urgent };
      expect(goesFirst({ ...QUEUE_DEFAULTS, order: 'fifo' }, waits, coming)).toBe(true);
      expect(goesFirst({ ...QUEUE_DEFAULTS, order: 'lifo' }, waits, coming)).toBe(false);
    }
  });
});

describe('what of work plays a part', () => {
  const routable = {
    ...{ id: 'w', type: '', attributes: {}, priority: 7, channel: '', requiredSkills: [], dedupeKey: '' },
    ...{ expiresUs: undefined, receivedUs: START_US },
  };
  const ask = { routable, poolId: undefined, recipientId: undefined, excluded: [], previous: [] };
  const nowUs = START_US + 10 * MINUTE_US;

  it('is when it came in, less what its clock stood still, and since when it waits', () => {
    expect(orderedOf(ask, nowUs)).toEqual({ priority: 7, queuedUs: nowUs, clockUs: START_US });
    const waited = { firstId: 'd', sinceUs: START_US + MINUTE_US };
    const paused = { ...ask, waited, pausedUs: 4 * MINUTE_US };
    expect(orderedOf(paused, nowUs)).toEqual({
      ...{ priority: 7, queuedUs: START_US + MINUTE_US, clockUs: START_US + 4 * MINUTE_US },
    });
  });

  it('is now for what says nothing, and for what says that it comes in later', () => {
    for (const receivedUs of [undefined, nowUs + DAY_US]) {
      expect(orderedOf({ ...ask, routable: { ...routable, receivedUs } }, nowUs).clockUs).toBe(nowUs);
    }
  });

  it('counts what waiting does where the clock begins with the decision', () => {
    expect(weightsOf()).toEqual({ ageWeight: 1, boost: 0 });
    expect(weightsOf(2, 3)).toEqual({ ageWeight: 2, boost: 3 });
    expect(weightsOf(2, 3, 'routed')).toEqual({ ageWeight: 5, boost: 0 });
  });
});
