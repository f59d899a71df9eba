import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import { toAccount, type CountersRow } from '../../../capacity/index.js';
import type { MemberStanding, PoolStanding, Standing } from '../standing.js';
import { learnedFrom, type LearnedColumns } from './learned-columns.js';

interface PoolRow extends Row {
  readonly now_us: number;
  readonly pool_id: string | null;
  readonly record_version: number;
  readonly is_killed: boolean;
}

interface MemberRow extends Row, Omit<CountersRow, 'committed'>, LearnedColumns {
  readonly pool_id: string;
  readonly recipient_id: string;
  readonly record_version: number;
  readonly joined_at: number;
  /** null: the authority does not know the recipient. */
  readonly committed: number | null;
  readonly day: number;
  readonly last_assigned_at: number | null;
  readonly last_released_at: number | null;
}

const POOLS = prepared(
  'routing_standing_pools',
  `select n.now_us, p.pool_id, p.record_version, p.killed_at is not null as is_killed
    from (select ductor.now_us() as now_us offset 0) n
    left join ductor.pool p on p.tenant_id = $1::uuid and p.pool_id = any($2::uuid[])`,
);
const MEMBERS = prepared(
  'routing_standing_members',
  `select m.pool_id, m.recipient_id, m.joined_at, r.record_version,
      a.committed, a.held, a.day, a.daily_committed, a.daily_admitted, a.reset_at, a.last_assigned_at,
      a.last_released_at, f.latency_us, f.latency_at, f.success_milli, f.failure_milli, f.rated_at, f.responses,
      f.ejected_until, f.cooldown_until, coalesce(f.limit_episode, 0) as limit_episode, f.probe_until
    from (
      select o.tenant_id, o.pool_id, o.recipient_id, o.joined_at from ductor.membership o
        where o.tenant_id = $1::uuid and o.pool_id = any($2::uuid[])
      union all
      select $1::uuid, s.pool_id, s.recipient_id, 0 from unnest($3::uuid[], $4::uuid[]) as s (pool_id, recipient_id)) m
    join ductor.recipient r on r.tenant_id = m.tenant_id and r.recipient_id = m.recipient_id
    left join ductor.capacity_authority a on a.tenant_id = m.tenant_id and a.recipient_id = m.recipient_id
    left join ductor.recipient_fact f on f.tenant_id = m.tenant_id and f.recipient_id = m.recipient_id`,
);

function learnedOf(row: MemberRow, nowUs: number): MemberStanding['learned'] {
  return {
    inRotationSinceUs: row.joined_at,
    ...(row.last_assigned_at === null ? {} : { lastAssignedUs: row.last_assigned_at }),
    ...(row.last_released_at === null ? {} : { lastReleasedUs: row.last_released_at }),
    ...learnedFrom(row, nowUs),
  };
}

function accountOf({ committed, ...row }: MemberRow): MemberStanding['account'] {
  return committed === null ? undefined : toAccount({ ...row, committed });
}

/** A pool whose standing is asked, with the recipients that it falls back to and that do not belong to it. */
export interface AskedPool {
  readonly id: string;
  readonly standbys: readonly { readonly id: string }[];
}

/** The pools that views are asked for; those that there are not have nobody. */
export function askedPools(views: ReadonlyMap<string, AskedPool | undefined>): readonly AskedPool[] {
  return [...views].map(([id, view]) => view ?? { id, standbys: [] });
}

/**
 * Where pools stand now. In a transaction that holds locks, call it after the statement that took them: it sees what
 * was committed while that one waited, the kill switch too.
 */
export async function readStanding(db: Queryable, tenantId: string, asked: readonly AskedPool[]): Promise<Standing> {
  const ids = uuidArray(asked.map(({ id }) => id));
  const standbys = asked.flatMap((pool) => pool.standbys.map(({ id }) => [pool.id, id] as const));
  const { rows: pools } = await db.query<PoolRow>(POOLS, [tenantId, ids]);
  const { rows: members } = await db.query<MemberRow>(MEMBERS, [
    ...[tenantId, ids],
    uuidArray(standbys.map(([poolId]) => poolId)),
    uuidArray(standbys.map(([, recipientId]) => recipientId)),
  ]);
  const nowUs = pools[0]?.now_us ?? 0;
  const found = new Map<string, PoolStanding & { readonly members: Map<string, MemberStanding> }>();
  for (const { pool_id: id, record_version: version, is_killed: isKilled } of pools) {
    if (id !== null) found.set(id, { version, isKilled, members: new Map() });
  }
  for (const row of members) {
    const { record_version: version, recipient_id: recipientId } = row;
    const standing = { version, account: accountOf(row), learned: learnedOf(row, nowUs) };
    found.get(row.pool_id)?.members.set(recipientId, standing);
  }
  return { nowUs, pools: found };
}
