import { integerArray, uuidArray, type Queryable } from '../../../store/index.js';
import type { RecipientFields } from '../../objects/recipient.js';
import { storedFields } from './recipient-row.js';

/** A recipient as it is to be. */
export interface WrittenRecipient {
  readonly id: string;
  readonly fields: RecipientFields;
}

const valuesOf = (tenantId: string, recipients: readonly WrittenRecipient[]): unknown[] => [
  tenantId,
  uuidArray(recipients.map(({ id }) => id)),
  uuidArray(recipients.map(({ fields }) => fields.pool_id ?? null)),
  recipients.map(({ fields }) => storedFields(fields)),
];

/** Stores new recipients, without their memberships. Throws what the database throws when an external_id is taken. */
export async function insertRecipients(
  tx: Queryable,
  tenantId: string,
  recipients: readonly WrittenRecipient[],
): Promise<void> {
  if (recipients.length === 0) return;
  await tx.query(
    `insert into ductor.recipient (tenant_id, recipient_id, pool_id, fields)
      select $1::uuid, n.recipient_id, n.pool_id, n.fields
        from unnest($2::uuid[], $3::uuid[], $4::jsonb[]) as n (recipient_id, pool_id, fields)`,
    valuesOf(tenantId, recipients),
  );
}

/** Stores what locked recipients are now, without their memberships. Throws as insertRecipients does. */
export async function updateRecipients(
  tx: Queryable,
  tenantId: string,
  recipients: readonly WrittenRecipient[],
): Promise<void> {
  if (recipients.length === 0) return;
  await tx.query(
    `update ductor.recipient r set pool_id = n.pool_id, fields = n.fields, record_version = r.record_version + 1,
        updated_at = ductor.now_us()
      from unnest($2::uuid[], $3::uuid[], $4::jsonb[]) as n (recipient_id, pool_id, fields)
      where r.tenant_id = $1::uuid and r.recipient_id = n.recipient_id`,
    valuesOf(tenantId, recipients),
  );
}

/** Makes the memberships of locked recipients what their fields say, in their order. The pools must be kept before. */
export async function putManyMemberships(
  tx: Queryable,
  tenantId: string,
  recipients: readonly WrittenRecipient[],
): Promise<void> {
  if (recipients.length === 0) return;
  const all = recipients.flatMap(({ id, fields }) =>
    fields.memberships.map(({ pool_id: poolId, ...rest }, index) => ({ id, poolId, rest, place: index + 1 })),
  );
  await tx.query(
    `with given as (
        select * from unnest($3::uuid[], $4::uuid[], $5::jsonb[], $6::integer[])
          as g (recipient_id, pool_id, fields, place)),
      gone as (
        delete from ductor.membership m where m.tenant_id = $1::uuid and m.recipient_id = any($2::uuid[])
          and not exists (select 1 from given g where g.recipient_id = m.recipient_id and g.pool_id = m.pool_id))
      insert into ductor.membership (tenant_id, pool_id, recipient_id, fields, place)
        select $1::uuid, g.pool_id, g.recipient_id, g.fields, g.place from given g
        on conflict (tenant_id, pool_id, recipient_id)
          do update set fields = excluded.fields, place = excluded.place`,
    [
      tenantId,
      uuidArray(recipients.map(({ id }) => id)),
      uuidArray(all.map(({ id }) => id)),
      uuidArray(all.map(({ poolId }) => poolId)),
      all.map(({ rest }) => JSON.stringify(rest)),
      integerArray(all.map(({ place }) => place)),
    ],
  );
}
