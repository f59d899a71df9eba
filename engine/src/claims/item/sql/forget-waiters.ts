import { prepared, uuidArray, type Queryable } from '../../../store/index.js';

const FORGET = prepared(
  'claims_forget_waiters',
  'update ductor.claim_item i set waiter = null where i.tenant_id = $1::uuid and i.item_id = any($2::uuid[])',
);

/** Lets nobody wait for locked items any more: those that are released and expire are then decided again. */
export async function forgetWaiters(tx: Queryable, tenantId: string, itemIds: readonly string[]): Promise<void> {
  if (itemIds.length === 0) return;
  await tx.query(FORGET, [tenantId, uuidArray(itemIds)]);
}
