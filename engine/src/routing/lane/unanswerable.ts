/** Decisions that cannot be kept: their work would wait where nobody looks. */
import { DuctorError } from '../../kernel/index.js';
import type { Decision } from '../pipeline/decision.js';

/**
 * Why nothing would come of an outcome: nothing is written then, so that nothing waits for nobody.
 *
 * @param queues claim queues that there are, kept from being removed
 */
export function unanswerable(
  { outcome, poolId = '', claimQueueId = '' }: Decision,
  queues: ReadonlySet<string>,
): DuctorError | undefined {
  if (outcome !== 'queued_for_claim' || queues.has(claimQueueId)) return undefined;
  const message = `there is no claim queue ${claimQueueId}, which pool ${poolId} puts work in`;
  return new DuctorError('not_found', message, { remedy: 'Name a queue of this tenant in config.claim_queue_id.' });
}
