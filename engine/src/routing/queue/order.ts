/**
 * The order of a queue. `priority_age`: by the score, minutes of priority and `age_weight_per_min` for each minute of
 * waiting, so that with a weight above 0 nothing is overtaken for ever; `fifo`, `lifo`: by when it was queued.
 *
 * Scores of all that waits grow alike, so that the order of two of them never changes: it is stored (sql/ordering.ts
 * says the same in SQL).
 */
import type { QueueSettings } from '../pipeline/settings.js';

/** What of work plays a part. */
export interface Ordered {
  readonly priority: number;
  readonly queuedUs: number;
}

const MINUTE_US = 60_000_000;

/** The score at a moment, minutes. */
function scoreOf({ ageWeight }: QueueSettings, { priority, queuedUs }: Ordered, nowUs: number): number {
  return priority + ((nowUs - queuedUs) / MINUTE_US) * ageWeight;
}

/** Whether what waits goes before work that comes in now. */
export function goesFirst(queue: QueueSettings, waiting: Ordered, priority: number, nowUs: number): boolean {
  switch (queue.order) {
    case 'fifo':
      return true;
    case 'lifo':
      return false;
    case 'priority_age':
      return scoreOf(queue, waiting, nowUs) >= priority;
  }
}
