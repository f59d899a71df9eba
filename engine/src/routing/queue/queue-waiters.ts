/** Whoever waits for work in queues of pools, and hears in the very transaction in which it leaves them. */
import type { Queryable } from '../../store/index.js';
import type { Decision } from '../pipeline/decision.js';

/** Work that has left all queues. */
export interface LeftQueues {
  /** Who waits for it. */
  readonly waiter: string;
  /** The decision that queued it first. */
  readonly workId: string;
  /** What it came to: a decision with its assignments, or it was removed, for this reason. */
  readonly came:
    | { readonly kind: 'decided'; readonly decision: Decision; readonly assignmentIds: readonly string[] }
    | { readonly kind: 'removed'; readonly reason: string };
}

/** See above. */
export interface QueueWaiters {
  /** Tells them. Throws what the database throws: then nothing has left. */
  told(tx: Queryable, tenantId: string, left: readonly LeftQueues[]): Promise<void>;
}

/** Nobody waits. */
export const NO_QUEUE_WAITERS: QueueWaiters = { told: async () => undefined };
