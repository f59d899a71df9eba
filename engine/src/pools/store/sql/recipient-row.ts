import type { Row } from '../../../store/index.js';
import type { RecipientFields } from '../../objects/recipient.js';
import type { Recipient } from '../recipient.js';

/** Columns of a recipient `r`, its memberships with it. */
export const RECIPIENT_COLUMNS = `r.tenant_id, r.recipient_id, r.pool_id, r.fields, r.record_version, r.created_at,
  r.updated_at, coalesce((
    select jsonb_agg(m.fields || jsonb_build_object('pool_id', m.pool_id) order by m.place)
      from ductor.membership m where m.tenant_id = r.tenant_id and m.recipient_id = r.recipient_id),
    '[]'::jsonb) as memberships`;

/** A row of them. */
export interface RecipientRow extends Row {
  readonly tenant_id: string;
  readonly recipient_id: string;
  readonly pool_id: string | null;
  readonly fields: Omit<RecipientFields, 'pool_id' | 'memberships'>;
  readonly record_version: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly memberships: RecipientFields['memberships'];
}

/** The recipient that a row holds. */
export function toRecipient(row: RecipientRow): Recipient {
  const { fields, memberships, pool_id: primary } = row;
  return {
    ...{ tenantId: row.tenant_id, recipientId: row.recipient_id },
    fields: { ...fields, memberships, ...(primary === null ? {} : { pool_id: primary }) },
    ...{ recordVersion: row.record_version, createdAtUs: row.created_at, updatedAtUs: row.updated_at },
  };
}

/** The fields as they stand in the row of a recipient. */
export function storedFields({ pool_id: _primary, memberships: _memberships, ...fields }: RecipientFields): string {
  return JSON.stringify(fields);
}
