import type { Queryable } from '../../../store/index.js';

/** Begins to count for a new recipient. */
export async function openAuthority(tx: Queryable, tenantId: string, recipientId: string): Promise<void> {
  await tx.query('insert into ductor.capacity_authority (tenant_id, recipient_id) values ($1::uuid, $2::uuid)', [
    tenantId,
    recipientId,
  ]);
}
