import type { Queryable } from '../../../store/index.js';
import { lockAccounts } from './lock-accounts.js';

/** Ends counting for a recipient; false, and nothing done, while units of it are committed or reserved. */
export async function closeAuthority(tx: Queryable, tenantId: string, recipientId: string): Promise<boolean> {
  await lockAccounts(tx, tenantId, [recipientId]);
  // A statement of its own: it sees what was committed while the one before waited.
  const { rows } = await tx.query(
    `delete from ductor.capacity_authority
      where tenant_id = $1::uuid and recipient_id = $2::uuid and committed = 0 and held = 0 returning recipient_id`,
    [tenantId, recipientId],
  );
  return rows.length === 1;
}
