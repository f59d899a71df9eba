/** A node's rows: made, and gone. */
import { DuctorError } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import { GATE_LANE, PLAIN_LANE } from './commit-statement.js';

/** Commit lanes of a node; each has its row. */
const LANES = [PLAIN_LANE, GATE_LANE];
/** Nodes that own nothing are forgotten this long after their lease ran out, microseconds. */
const FORGET_AFTER_US = 60_000_000;

/** Makes the rows of a node, or renews them when the answer to the first try was lost. Throws node_fenced. */
export async function registerNode(
  db: Queryable,
  node: { readonly nodeId: string; readonly address: string; readonly leaseMs: number; readonly sessionKey: number },
): Promise<void> {
  const { rowCount } = await db.query(
    `insert into ductor.engine_node as n (node_id, lane, lease_until, renewed_at, session_key, address)
      select $1, lane, ductor.now_us() + $2 * 1000::bigint, ductor.now_us(), $3, $4 from unnest($5::smallint[]) as lane
      on conflict (node_id, lane) do update
        set lease_until = excluded.lease_until, renewed_at = excluded.renewed_at, address = excluded.address
        where not n.fenced`,
    [node.nodeId, node.leaseMs, node.sessionKey, node.address, LANES],
  );
  if (rowCount < LANES.length) throw new DuctorError('node_fenced', `node ${node.nodeId} was fenced`);
}

/** Removes the rows of nodes that are long dead and own nothing; rows in use are left for the next time. */
export async function forgetDeadNodes(db: Queryable): Promise<void> {
  await db.query(
    `delete from ductor.engine_node where (node_id, lane) in (
      select n.node_id, n.lane from ductor.engine_node n
      where n.lease_until < ductor.now_us() - $1
        and not exists (select 1 from ductor.shard_owner o where o.node_id = n.node_id)
      for update skip locked)`,
    [FORGET_AFTER_US],
  );
}

/** Ends a node: waits for its commits in flight, gives its shards back, removes its rows. Needs a transaction. */
export async function removeNode(tx: Queryable, nodeId: string): Promise<void> {
  await tx.query('select 1 from ductor.engine_node where node_id = $1 order by lane for update', [nodeId]);
  await tx.query('update ductor.shard_owner set node_id = null where node_id = $1', [nodeId]);
  await tx.query('delete from ductor.engine_node where node_id = $1', [nodeId]);
}
