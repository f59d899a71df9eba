import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import { teamNamed } from '../../objects/team.js';

/** Whether a pool works. */
export interface PoolStatus {
  /** `STATUS_ACTIVE` and so on. */
  readonly status: string;
  readonly isKilled: boolean;
}

/** Whether a recipient works. */
export interface RecipientStatus {
  readonly status: string;
  /** `RECIPIENT_STATE_AVAILABLE` and so on. */
  readonly state: string;
  /** The team that it is in; null: in none. */
  readonly team: string | null;
}

const POOLS = prepared(
  'pools_read_pool_status',
  `select p.pool_id as id, p.status, p.killed_at is not null as is_killed from ductor.pool p
    where (p.tenant_id, p.pool_id) in (select * from unnest($1::uuid[], $2::uuid[]))`,
);
const RECIPIENTS = prepared(
  'pools_read_recipient_status',
  `select r.recipient_id as id, r.status, r.state, r.fields #>> '{attributes,team,string_value}' as team
    from ductor.recipient r
    where r.tenant_id = $1::uuid and r.recipient_id = any($2::uuid[])`,
);

interface StatusRow extends Row {
  readonly id: string;
  readonly status: string;
  readonly state: string;
  readonly team: string | null;
}

/** A pool of a tenant. */
export interface TenantPool {
  readonly tenantId: string;
  readonly poolId: string;
}

/** Whether pools work, by id; those that there are not are absent. */
export async function readPoolStatus(
  db: Queryable,
  pools: readonly TenantPool[],
): Promise<ReadonlyMap<string, PoolStatus>> {
  if (pools.length === 0) return new Map();
  const { rows } = await db.query<Row & { id: string; status: string; is_killed: boolean }>(POOLS, [
    uuidArray(pools.map(({ tenantId }) => tenantId)),
    uuidArray(pools.map(({ poolId }) => poolId)),
  ]);
  return new Map(rows.map(({ id, status, is_killed: isKilled }) => [id, { status, isKilled }]));
}

/** Whether recipients work, by id; those that there are not are absent. */
export async function readRecipientStatus(
  db: Queryable,
  tenantId: string,
  recipientIds: readonly string[],
): Promise<ReadonlyMap<string, RecipientStatus>> {
  const { rows } = await db.query<StatusRow>(RECIPIENTS, [tenantId, uuidArray(recipientIds)]);
  return new Map(rows.map(({ id, status, state, team }) => [id, { status, state, team: teamNamed(team) }]));
}
