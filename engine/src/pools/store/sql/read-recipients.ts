import { prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { Recipient } from '../recipient.js';
import { RECIPIENT_COLUMNS, toRecipient, type RecipientRow } from './recipient-row.js';
import { versionsOf, type VersionRow, type Versions } from './version-row.js';

const FIND_TEXT = `select ${RECIPIENT_COLUMNS} from ductor.recipient r
  where r.tenant_id = $1::uuid and r.recipient_id = $2::uuid`;
const FIND = prepared('pools_find_recipient', FIND_TEXT);
const LOCK = prepared('pools_lock_recipient', `${FIND_TEXT} for update of r`);
const LIST = prepared(
  'pools_list_recipients',
  `select ${RECIPIENT_COLUMNS} from ductor.membership k
    join ductor.recipient r on r.tenant_id = k.tenant_id and r.recipient_id = k.recipient_id
    where k.tenant_id = $1::uuid and k.pool_id = $2::uuid and k.recipient_id > $3::uuid
      and ($4::text is null or r.status = $4) and ($5::text is null or r.state = $5)
    order by k.recipient_id limit $6`,
);
const ALL = prepared(
  'pools_all_recipients',
  `select ${RECIPIENT_COLUMNS} from ductor.recipient r where r.tenant_id = $1::uuid order by r.recipient_id limit $2`,
);
const VERSIONS = prepared(
  'pools_lock_recipient_versions',
  `select r.recipient_id as id, r.record_version as version from ductor.recipient r
    where r.tenant_id = $1::uuid and r.recipient_id = any($2::uuid[]) order by r.recipient_id for update`,
);

/** Before every id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Which members of a pool. */
export interface MemberQuery {
  readonly poolId: string;
  /** Those after this id; null: from the first. */
  readonly afterId: string | null;
  /** null: of any. */
  readonly status: string | null;
  /** null: in any. */
  readonly state: string | null;
  readonly limit: number;
}

/** One recipient; undefined when there is none. */
export async function findRecipient(db: Queryable, tenantId: string, id: string): Promise<Recipient | undefined> {
  const { rows } = await db.query<RecipientRow>(FIND, [tenantId, id]);
  return rows[0] && toRecipient(rows[0]);
}

/** One recipient, locked until the transaction ends; undefined when there is none. */
export async function lockRecipient(tx: Queryable, tenantId: string, id: string): Promise<Recipient | undefined> {
  const { rows } = await tx.query<RecipientRow>(LOCK, [tenantId, id]);
  return rows[0] && toRecipient(rows[0]);
}

/** Members of a pool, by id. */
export async function listRecipients(
  db: Queryable,
  tenantId: string,
  { poolId, afterId, status, state, limit }: MemberQuery,
): Promise<readonly Recipient[]> {
  const values = [tenantId, poolId, afterId ?? FIRST_ID, status, state, limit];
  const { rows } = await db.query<RecipientRow>(LIST, values);
  return rows.map(toRecipient);
}

/** The recipients of a tenant by id, so many at most. */
export async function allRecipients(db: Queryable, tenantId: string, limit: number): Promise<readonly Recipient[]> {
  const { rows } = await db.query<RecipientRow>(ALL, [tenantId, limit]);
  return rows.map(toRecipient);
}

/** Locks recipients until the transaction ends, in the order of their ids; versions of those that there are. */
export async function lockRecipientVersions(
  tx: Queryable,
  tenantId: string,
  ids: readonly string[],
): Promise<Versions> {
  const { rows } = await tx.query<VersionRow>(VERSIONS, [tenantId, uuidArray(ids)]);
  return versionsOf(rows);
}
