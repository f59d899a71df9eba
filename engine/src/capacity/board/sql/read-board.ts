import { DuctorError } from '../../../kernel/index.js';
import { prepared, type Queryable, type Row } from '../../../store/index.js';
import { TODAY } from '../../authority/sql/today.js';
import type { BoardLine, CapacityHolder } from '../board-line.js';

/** Which lines. */
export interface BoardQuery {
  /** null: of all pools. */
  readonly poolId: string | null;
  /** The last line of the page before, of poolId where that is given; null: from the first. */
  readonly after: { readonly poolId: string; readonly recipientId: string } | null;
  readonly limit: number;
}

const HOLDERS = 10;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

interface HolderJson {
  readonly since: number;
  readonly pool_id: string;
  readonly units: number;
  readonly run_id: string | null;
  readonly path: string;
  readonly root_id: string;
  readonly assignment_id: string;
  readonly decision_id: string;
  readonly routable_id: string;
}

interface LineRow extends Row {
  readonly pool_id: string;
  readonly pool_name: string;
  readonly recipient_id: string;
  readonly recipient_name: string;
  readonly status: string;
  readonly state: string;
  readonly max_concurrent: number;
  readonly daily_limit: number;
  readonly committed: number | null;
  readonly held: number;
  readonly used_today: number;
  readonly holder_count: number;
  readonly holders: readonly HolderJson[] | null;
}

/** Assignments from before the counters were set to 0 by hand have no units any more. */
const READ = prepared(
  'capacity_read_board',
  `with page as materialized (
      select m.pool_id, m.recipient_id from ductor.membership m
      where m.tenant_id = $1::uuid and (m.pool_id, m.recipient_id) > ($2::uuid, $3::uuid) and m.pool_id <= $4::uuid
      order by m.pool_id, m.recipient_id limit $5)
    select g.pool_id, p.name as pool_name, g.recipient_id, r.fields ->> 'name' as recipient_name,
      r.status, r.state,
      coalesce((r.fields -> 'capacity' ->> 'max_concurrent')::integer, 0) as max_concurrent,
      coalesce((r.fields -> 'capacity' ->> 'daily_limit')::integer, 0) as daily_limit, a.committed, a.held,
      case when a.day = ${TODAY} then a.daily_committed + a.daily_admitted else 0 end as used_today,
      h.holder_count, h.holders
    from page g
    join ductor.pool p on p.tenant_id = $1::uuid and p.pool_id = g.pool_id
    join ductor.recipient r on r.tenant_id = $1::uuid and r.recipient_id = g.recipient_id
    left join ductor.capacity_authority a on a.tenant_id = $1::uuid and a.recipient_id = g.recipient_id
    cross join lateral (
      select count(*)::integer as holder_count,
        json_agg(o order by o.place) filter (where o.place <= ${HOLDERS}) as holders
      from (
        select row_number() over (order by t.since, t.run_id, t.path, t.assignment_id) as place, t.* from (
          select v.admitted_at as since, v.pool_id, v.units, v.run_id, v.path, v.root_id,
            null::uuid as assignment_id, null::uuid as decision_id, null::text as routable_id
          from ductor.capacity_reservation v where v.tenant_id = $1::uuid and v.recipient_id = g.recipient_id
          union all
          select s.committed_at, s.pool_id, s.units, null, null, null, s.assignment_id, s.decision_id, s.routable_id
          from ductor.assignment s
          where s.tenant_id = $1::uuid and s.recipient_id = g.recipient_id and s.state = 'active'
            and (a.reset_at is null or s.committed_at > a.reset_at)) t) o) h
    order by g.pool_id, g.recipient_id`,
);

function toHolder(each: HolderJson): CapacityHolder {
  const having = { poolId: each.pool_id, units: each.units, sinceUs: each.since };
  if (each.run_id !== null) {
    return { kind: 'reservation', ...having, runId: each.run_id, path: each.path, rootId: each.root_id };
  }
  const { assignment_id: assignmentId, decision_id: decisionId, routable_id: routableId } = each;
  return { kind: 'assignment', ...having, assignmentId, decisionId, routableId };
}

function toLine(row: LineRow): BoardLine {
  if (row.committed === null) {
    throw new DuctorError('capacity_authority_unavailable', `nothing is counted for recipient ${row.recipient_id}`);
  }
  return {
    ...{ poolId: row.pool_id, poolName: row.pool_name, recipientId: row.recipient_id },
    ...{ recipientName: row.recipient_name, status: row.status, state: row.state },
    ...{ maxConcurrent: row.max_concurrent, dailyLimit: row.daily_limit },
    ...{ held: row.held, committed: row.committed, usedToday: row.used_today },
    ...{ holders: (row.holders ?? []).map(toHolder), holderCount: row.holder_count },
  };
}

/** Lines of the board, by the ids of pool and recipient. Throws capacity_authority_unavailable. */
export async function readBoard(
  db: Queryable,
  tenantId: string,
  { poolId, after, limit }: BoardQuery,
): Promise<readonly BoardLine[]> {
  const from = [after?.poolId ?? poolId ?? FIRST_ID, after?.recipientId ?? FIRST_ID];
  const { rows } = await db.query<LineRow>(READ, [tenantId, ...from, poolId ?? LAST_ID, limit]);
  return rows.map(toLine);
}
