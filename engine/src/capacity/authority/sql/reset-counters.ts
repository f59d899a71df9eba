import type { Queryable } from '../../../store/index.js';
import { lockAccounts } from './lock-accounts.js';

/**
 * Sets the committed counters of recipients to 0, those of the day too. What is reserved, and what was reserved today,
 * stays.
 *
 * @returns how many recipients the authority knows of them
 */
export async function resetCounters(tx: Queryable, tenantId: string, recipientIds: readonly string[]): Promise<number> {
  await lockAccounts(tx, tenantId, recipientIds);
  const { rows } = await tx.query(
    `update ductor.capacity_authority set committed = 0, daily_committed = 0, reset_at = ductor.now_us()
      where tenant_id = $1::uuid and recipient_id = any($2::uuid[]) returning recipient_id`,
    [tenantId, recipientIds],
  );
  return rows.length;
}
