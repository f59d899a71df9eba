/** Whether work may go on to wait in the queue of a pool. */
import { msOf, type Fallback } from '../../pools/index.js';
import type { DecisionInput, PoolSnapshot } from './decision.js';
import type { QueueBar } from './outcomes.js';
import type { QueueSettings } from './settings.js';

/** Queues of pools that say nothing about theirs, and that of work which a rule holds in no pool. */
export const QUEUE_DEFAULTS: QueueSettings = {
  order: 'priority_age',
  ageWeight: 1,
  boost: 0,
  maxDepth: 10_000,
  ttlUs: 86_400_000_000,
};

/** What is to be known of a queue. */
export interface Queueing {
  /** '': that of no pool. */
  readonly queueOf: string;
  readonly queue: QueueSettings;
  /** Work that waits in it. */
  readonly depth: number;
  /** Until when this work may wait, us. */
  readonly untilUs: number;
}

/** The queue of a pool for this work; a fallback may say how long by itself. */
export function queueingIn(
  { nowUs, waited }: Pick<DecisionInput, 'nowUs' | 'waited'>,
  snapshot: PoolSnapshot | undefined,
  fallback?: Fallback,
): Queueing {
  const queue = snapshot?.view.settings.queue ?? QUEUE_DEFAULTS;
  const ttlUs = fallback?.ttl === undefined ? queue.ttlUs : msOf(fallback.ttl) * 1000;
  const untilUs = (waited?.sinceUs ?? nowUs) + ttlUs;
  return { queueOf: snapshot?.view.id ?? '', queue, depth: snapshot?.queued ?? 0, untilUs };
}

/** Why it may not wait there; undefined: it may. What waits there already takes no new place. */
export function queueBar(
  { nowUs, waited }: Pick<DecisionInput, 'nowUs' | 'waited'>,
  { queueOf, queue, depth, untilUs }: Queueing,
): QueueBar | undefined {
  if (waited !== undefined && nowUs >= untilUs) return 'queue_expired';
  return waited?.queueOf !== queueOf && depth >= queue.maxDepth ? 'queue_full' : undefined;
}
