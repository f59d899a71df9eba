import { standbysOf, type PoolFields, type RecipientFields } from '../../../pools/index.js';
import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { PoolDocument, StoredRecipient } from '../../pipeline/view.js';

interface PoolRow extends Row {
  readonly pool_id: string;
  readonly record_version: number;
  readonly fields: PoolFields;
  readonly is_killed: boolean;
}

type Membership = RecipientFields['memberships'][number];

interface RecipientRow extends Row {
  readonly recipient_id: string;
  readonly pool_id: string | null;
  readonly record_version: number;
  readonly fields: Omit<RecipientFields, 'pool_id' | 'memberships'>;
}

interface MemberRow extends RecipientRow {
  readonly in_pool_id: string;
  readonly membership: Membership;
}

const POOLS = prepared(
  'routing_load_pools',
  `select p.pool_id, p.record_version, p.fields, p.killed_at is not null as is_killed from ductor.pool p
    where p.tenant_id = $1::uuid and p.pool_id = any($2::uuid[])`,
);
const MEMBERS = prepared(
  'routing_load_members',
  `select m.pool_id as in_pool_id, r.recipient_id, r.pool_id, r.record_version, r.fields,
      m.fields || jsonb_build_object('pool_id', m.pool_id) as membership
    from ductor.membership m
    join ductor.recipient r on r.tenant_id = m.tenant_id and r.recipient_id = m.recipient_id
    where m.tenant_id = $1::uuid and m.pool_id = any($2::uuid[])`,
);

const STANDBYS = prepared(
  'routing_load_standbys',
  `select r.recipient_id, r.pool_id, r.record_version, r.fields from ductor.recipient r
    where r.tenant_id = $1::uuid and r.recipient_id = any($2::uuid[])`,
);

/** A pool as it is stored, with its recipients. */
export interface LoadedPool {
  readonly id: string;
  readonly version: number;
  readonly document: PoolDocument;
  /** Each knows its membership in this pool only. */
  readonly recipients: readonly StoredRecipient[];
  /** Recipients that it falls back to and that do not belong to it. */
  readonly standbys: readonly StoredRecipient[];
}

function recipientOf(row: RecipientRow, membership?: Membership): StoredRecipient {
  const fields: RecipientFields = {
    ...{ ...row.fields, memberships: membership === undefined ? [] : [membership] },
    ...(row.pool_id === null ? {} : { pool_id: row.pool_id }),
  };
  return { id: row.recipient_id, version: row.record_version, fields };
}

/**
 * Pools with their recipients; those that there are not are absent. Read pools first: whoever changes after that shows
 * in the standing by a version that the view does not have.
 */
export async function loadPools(
  db: Queryable,
  tenantId: string,
  poolIds: readonly string[],
): Promise<readonly LoadedPool[]> {
  const values = [tenantId, uuidArray(poolIds)];
  const { rows: pools } = await db.query<PoolRow>(POOLS, values);
  const { rows: members } = await db.query<MemberRow>(MEMBERS, values);
  const standbys = await loadStandbys(db, tenantId, pools);
  return pools.map((pool) => {
    const own = members.filter(({ in_pool_id }) => in_pool_id === pool.pool_id);
    const belongs = new Set(own.map(({ recipient_id }) => recipient_id));
    const spare = standbysOf(pool.fields.config).flatMap((id) => (belongs.has(id) ? [] : (standbys.get(id) ?? [])));
    return {
      ...{ id: pool.pool_id, version: pool.record_version },
      document: { fields: pool.fields, isKilled: pool.is_killed },
      recipients: own.map((row) => recipientOf(row, row.membership)),
      standbys: spare,
    };
  });
}

/** Recipients that the pools fall back to, by id. */
async function loadStandbys(
  db: Queryable,
  tenantId: string,
  pools: readonly PoolRow[],
): Promise<ReadonlyMap<string, StoredRecipient>> {
  const ids = pools.flatMap(({ fields }) => standbysOf(fields.config));
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<RecipientRow>(STANDBYS, [tenantId, uuidArray(ids)]);
  return new Map(rows.map((row) => [row.recipient_id, recipientOf(row)]));
}
