/** Decisions that cannot be kept: their work would wait where nobody looks. */
import { DuctorError } from '../../kernel/index.js';
import type { Decision } from '../pipeline/decision.js';

/**
 * Why nothing would come of an outcome: nothing is written then, so that nothing waits for nobody.
 *
 * @param queues claim queues that there are, kept from being removed
 * @param mayWait whether whoever asked lets the work wait in the queue of a pool
 */
export function unanswerable(
  { outcome, poolId = '', claimQueueId = '' }: Decision,
  queues: ReadonlySet<string>,
  mayWait: boolean,
): DuctorError | undefined {
  if (outcome === 'queued' && !mayWait) {
    const message = `the work came to the queue of pool ${poolId}, and a step does not wait there yet`;
    const remedy =
      'Call Route, let the pool have another fallback (overflow, claim), or route again by a retry of yours.';
    return new DuctorError('unimplemented', message, { remedy });
  }
  if (outcome !== 'queued_for_claim' || queues.has(claimQueueId)) return undefined;
  const message = `there is no claim queue ${claimQueueId}, which pool ${poolId} puts work in`;
  return new DuctorError('not_found', message, { remedy: 'Name a queue of this tenant in config.claim_queue_id.' });
}
