import type { Queryable } from '../../../store/index.js';
import type { RecipientFields } from '../../objects/recipient.js';
import { storedFields } from './recipient-row.js';

/**
 * Stores what a locked recipient is now, without its memberships. Throws what the database throws when another one has
 * its external_id.
 */
export async function updateRecipient(
  tx: Queryable,
  tenantId: string,
  recipientId: string,
  fields: RecipientFields,
): Promise<void> {
  await tx.query(
    `update ductor.recipient set pool_id = $3::uuid, fields = $4::jsonb, record_version = record_version + 1,
        updated_at = ductor.now_us()
      where tenant_id = $1::uuid and recipient_id = $2::uuid`,
    [tenantId, recipientId, fields.pool_id ?? null, storedFields(fields)],
  );
}
