import type { Queryable } from '../../../store/index.js';
import type { RecipientFields } from '../../objects/recipient.js';
import { storedFields } from './recipient-row.js';

/** Stores a new recipient, without its memberships; false: its external_id is taken. */
export async function insertRecipient(
  tx: Queryable,
  tenantId: string,
  recipientId: string,
  fields: RecipientFields,
): Promise<boolean> {
  const { rows } = await tx.query(
    `insert into ductor.recipient (tenant_id, recipient_id, pool_id, fields)
      values ($1::uuid, $2::uuid, $3::uuid, $4::jsonb)
      on conflict (tenant_id, external_id) where external_id is not null do nothing returning recipient_id`,
    [tenantId, recipientId, fields.pool_id ?? null, storedFields(fields)],
  );
  return rows.length === 1;
}
