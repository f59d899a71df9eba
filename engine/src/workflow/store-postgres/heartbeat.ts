/** Renews a node's lease and looks around. */
import { impossible } from '../../kernel/index.js';
import { prepared, type Prepared, type Queryable, type Row } from '../../store/index.js';
import type { ClusterView } from '../coordinator/ports.js';
import { SUSPECT_MS } from '../coordinator/probe-ports.js';
import { IS_LEASED, isSessionOpen, SESSION_KEYS, type LivenessRule } from './node-liveness.js';

/** A node in the answer. */
interface NodeJson {
  readonly nodeId: string;
  readonly address: string;
  readonly live: boolean;
  readonly sessionOpen: boolean;
  readonly shards: readonly number[];
}

interface ViewRow extends Row {
  readonly now_us: number;
  readonly fenced: boolean;
  readonly nodes: readonly NodeJson[] | null;
  readonly unowned: readonly number[] | null;
  readonly inbox_shards: readonly number[] | null;
  readonly crashed_shards: readonly number[] | null;
  readonly next_lease_end_us: number | null;
}

/**
 * One statement. It changes no key column, so it never waits for commits in flight, nor they for it. It reads what was
 * before its own renewal, hence the `or` for the node itself. A shard whose owner has no row is nobody's.
 */
export function heartbeatStatement(rule: LivenessRule): Prepared {
  return prepared(
    'heartbeat',
    `with renewed as (
  update ductor.engine_node set lease_until = ductor.now_us() + $2 * 1000::bigint, renewed_at = ductor.now_us()
  where node_id = $1::uuid and not fenced returning node_id
), ${SESSION_KEYS}, owned as materialized (
  select o.node_id, array_agg(o.shard order by o.shard) as shards from ductor.shard_owner o group by o.node_id
), node as materialized (
  select n.node_id, min(n.address) as address,
    bool_and(not n.fenced and (${IS_LEASED} or n.node_id in (select node_id from renewed))) as live,
    bool_and(${isSessionOpen(rule, '$1::uuid')}) as session_open
  from ductor.engine_node n group by n.node_id
)
select ductor.now_us() as now_us,
  not exists (select 1 from renewed) as fenced,
  (select json_agg(json_build_object('nodeId', n.node_id, 'address', n.address, 'live', n.live,
      'sessionOpen', n.session_open, 'shards', coalesce(o.shards, '{}'::smallint[])) order by n.node_id)
    from node n left join owned o on o.node_id = n.node_id where n.live or o.node_id is not null) as nodes,
  (select array_agg(o.shard order by o.shard) from ductor.shard_owner o
    where not exists (select 1 from node n where n.node_id = o.node_id)) as unowned,
  (select array_agg(o.shard order by o.shard) from ductor.shard_owner o
    where o.node_id = $1::uuid and exists (select 1 from ductor.run_inbox i where i.shard = o.shard)) as inbox_shards,
  (select array_agg(o.shard) from ductor.shard_owner o
    where o.node_id = $1::uuid and o.crashed_at > ductor.now_us() - ${SUSPECT_MS} * 1000::bigint) as crashed_shards,
  (select min(n.lease_until) from ductor.engine_node n
    where n.node_id <> $1::uuid and not n.fenced and ${IS_LEASED}) as next_lease_end_us`,
  );
}

/** See ClusterStore.heartbeat. */
export async function heartbeat(
  db: Queryable,
  statement: Prepared,
  nodeId: string,
  leaseMs: number,
): Promise<ClusterView> {
  const { rows } = await db.query<ViewRow>(statement, [nodeId, leaseMs]);
  const row = rows[0] ?? impossible('heartbeat-without-answer', 'the heartbeat returned no row');
  return {
    nowUs: row.now_us,
    fenced: row.fenced,
    nodes: row.nodes ?? [],
    unowned: row.unowned ?? [],
    inboxShards: row.inbox_shards ?? [],
    crashedShards: row.crashed_shards ?? [],
    nextLeaseEndUs: row.next_lease_end_us,
  };
}
