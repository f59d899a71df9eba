import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';

/** How a recipient is shown. */
export interface RecipientNames {
  readonly name: string;
  readonly externalId: string;
  readonly type: string;
}

const READ = prepared(
  'pools_read_recipient_names',
  `select r.recipient_id as id, coalesce(r.fields ->> 'name', '') as name, coalesce(r.external_id, '') as external_id,
      coalesce(r.fields ->> 'type', '') as type
    from ductor.recipient r
    where r.tenant_id = $1::uuid and r.recipient_id = any($2::uuid[])`,
);

type NamesRow = Row & Pick<RecipientNames, 'name' | 'type'> & { readonly id: string; readonly external_id: string };

/** Names of recipients by id; of those that there are not any more, none. */
export async function readRecipientNames(
  db: Queryable,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RecipientNames>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<NamesRow>(READ, [tenantId, uuidArray(ids)]);
  return new Map(rows.map(({ id, name, external_id: externalId, type }) => [id, { name, externalId, type }]));
}
