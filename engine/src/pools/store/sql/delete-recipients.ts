import { uuidArray, type Queryable } from '../../../store/index.js';

/** Removes locked recipients and their memberships. */
export async function deleteRecipients(tx: Queryable, tenantId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `with gone as (delete from ductor.membership where tenant_id = $1::uuid and recipient_id = any($2::uuid[]))
      delete from ductor.recipient where tenant_id = $1::uuid and recipient_id = any($2::uuid[])`,
    [tenantId, uuidArray(ids)],
  );
}
