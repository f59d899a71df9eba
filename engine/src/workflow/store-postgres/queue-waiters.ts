/** Tells runs what became of the work that their steps wait for in queues, in the transaction that takes it out. */
import type { LeftQueues, QueueWaiters } from '../../routing/index.js';
import type { Queryable } from '../../store/index.js';
import { queuedStep } from '../coordinator/queue-waiter.js';
import { toldAnswerOf } from '../coordinator/route-answer.js';
import { encodeInput } from '../coordinator/run-logic.js';
import { tellRuns } from './tell-runs.js';

/** What the step is told of its work. */
export function toldBody({ waiter, workId, came }: LeftQueues): Uint8Array {
  const { path } = queuedStep(waiter);
  return encodeInput({ kind: 'route_told', path, workId, answer: toldAnswerOf(workId, came) });
}

/** Tells them. */
export const QUEUE_WAITERS: QueueWaiters = {
  told(tx: Queryable, tenantId: string, left: readonly LeftQueues[]): Promise<void> {
    const told = left.map((each) => ({ runId: queuedStep(each.waiter).runId, body: toldBody(each) }));
    return tellRuns(tx, tenantId, 'route_told', told);
  },
};
