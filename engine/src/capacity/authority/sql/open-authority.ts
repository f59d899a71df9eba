import { uuidArray, type Queryable } from '../../../store/index.js';

/** Begins to count for new recipients. */
export async function openAuthority(tx: Queryable, tenantId: string, recipientIds: readonly string[]): Promise<void> {
  await tx.query(
    'insert into ductor.capacity_authority (tenant_id, recipient_id) select $1::uuid, unnest($2::uuid[])',
    [tenantId, uuidArray(recipientIds)],
  );
}
