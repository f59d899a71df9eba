import { uuidArray, type Queryable } from '../../../store/index.js';
import { lockAccounts } from './lock-accounts.js';

/**
 * Ends counting for recipients; those with units that are committed or reserved go on being counted.
 *
 * @returns ids of those for which it ended
 */
export async function closeAuthority(
  tx: Queryable,
  tenantId: string,
  recipientIds: readonly string[],
): Promise<readonly string[]> {
  await lockAccounts(tx, tenantId, recipientIds);
  // A statement of its own: it sees what was committed while the one before waited.
  const { rows } = await tx.query<{ recipient_id: string }>(
    `delete from ductor.capacity_authority
      where tenant_id = $1::uuid and recipient_id = any($2::uuid[]) and committed = 0 and held = 0
      returning recipient_id`,
    [tenantId, uuidArray(recipientIds)],
  );
  return rows.map(({ recipient_id }) => recipient_id);
}
