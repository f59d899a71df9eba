import { prepared, uuidArray, type Queryable } from '../../../store/index.js';

const LOCK = prepared(
  'capacity_lock_accounts',
  `select 1 from ductor.capacity_authority where tenant_id = $1::uuid and recipient_id = any($2::uuid[])
    order by recipient_id for update`,
);

/**
 * Locks the accounts of recipients until the transaction ends, in the order of their ids, which is everybody's. What
 * they hold has to be read by a later statement: this one sees what was before it waited.
 *
 * @returns how many accounts there are
 */
export async function lockAccounts(tx: Queryable, tenantId: string, recipientIds: readonly string[]): Promise<number> {
  const { rowCount } = await tx.query(LOCK, [tenantId, uuidArray(recipientIds)]);
  return rowCount;
}
