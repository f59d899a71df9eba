import type { Queryable } from '../../../store/index.js';

/** Removes a locked recipient and its memberships. */
export async function deleteRecipient(tx: Queryable, tenantId: string, recipientId: string): Promise<void> {
  await tx.query(
    `with gone as (delete from ductor.membership where tenant_id = $1::uuid and recipient_id = $2::uuid)
      delete from ductor.recipient where tenant_id = $1::uuid and recipient_id = $2::uuid`,
    [tenantId, recipientId],
  );
}
