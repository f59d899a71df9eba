/**
 * The order of a queue. `priority_age`: by the score, minutes of priority, `age_weight_per_min` for each minute of
 * waiting and `sla.priority_boost_per_min` for each minute that the clock of the SLA counts, so that with a weight
 * above 0 nothing is overtaken for ever; `fifo`, `lifo`: by when it was queued.
 *
 * Scores of all that waits grow alike, so that the order of two of them never changes: it is stored. sql/ordering.ts
 * says the same in SQL.
 */
import type { RouteAsk } from '../lane/ask.js';
import type { QueueSettings } from '../pipeline/settings.js';

/** What of work plays a part. */
export interface Ordered {
  readonly priority: number;
  readonly queuedUs: number;
  /** From when the clock of an SLA counts that begins when work comes in. */
  readonly clockUs: number;
}

const MINUTE_US = 60_000_000n;

/** What of work that is queued now plays a part. */
export function orderedOf({ routable, waited, pausedUs = 0 }: RouteAsk, nowUs: number): Ordered {
  const { priority, receivedUs = nowUs } = routable;
  // What its clock stood still does not count, and nobody has waited for what comes in later.
  return { priority, queuedUs: waited?.sinceUs ?? nowUs, clockUs: Math.min(receivedUs + pausedUs, nowUs) };
}

/** What stays of the score when what all of them grow by is left out: us of priority. Beyond what JS counts exactly. */
export function rankOf({ ageWeight, boost }: QueueSettings, { priority, queuedUs, clockUs }: Ordered): bigint {
  return BigInt(priority) * MINUTE_US - BigInt(queuedUs) * BigInt(ageWeight) - BigInt(clockUs) * BigInt(boost);
}

/** Whether what waits goes before work that comes in now. */
export function goesFirst(queue: QueueSettings, waiting: Ordered, coming: Ordered): boolean {
  switch (queue.order) {
    case 'fifo':
      return true;
    case 'lifo':
      return false;
    case 'priority_age':
      return rankOf(queue, waiting) >= rankOf(queue, coming);
  }
}
