/**
 * Shards change hands. Every statement here first locks the rows of the nodes it relies on, a live node's for key share
 * and a dying one's for update, in the order of their ids: two nodes that take each other over queue instead of
 * deadlocking.
 */
import { DuctorError } from '../../kernel/index.js';
import { type Queryable, type Row, integerArray } from '../../store/index.js';
import { countCrashes } from './probe-runs.js';
import { IS_LEASED, isSessionOpen, SESSION_KEYS, type LivenessRule } from './node-liveness.js';

/** Shards of a statement that returned them, ascending. */
function shardsOf(rows: readonly (Row & { readonly shard: number })[]): readonly number[] {
  return rows.map((row) => row.shard).sort((a, b) => a - b);
}

/** Whether the node may go on: locks its rows against a takeover until the transaction ends. */
async function holdUnfenced(tx: Queryable, nodeId: string): Promise<boolean> {
  const { rows } = await tx.query<Row & { fenced: boolean }>(
    'select fenced from ductor.engine_node where node_id = $1 order by lane for key share',
    [nodeId],
  );
  return rows.length > 0 && rows.every((row) => !row.fenced);
}

/** Locks the rows of a node for update. False: it has none (any more). */
async function holdForUpdate(tx: Queryable, nodeId: string): Promise<boolean> {
  const { rowCount } = await tx.query('select 1 from ductor.engine_node where node_id = $1 order by lane for update', [
    nodeId,
  ]);
  return rowCount > 0;
}

/** Whether the node is dead: fenced, its lease over, or its session gone. Asked in a statement after the lock. */
async function isDead(tx: Queryable, nodeId: string, takerId: string, rule: LivenessRule): Promise<boolean> {
  const { rows } = await tx.query<Row & { dead: boolean | null }>(
    `with ${SESSION_KEYS} select bool_or(n.fenced or not ${IS_LEASED} or not ${isSessionOpen(rule, '$2::uuid')}) as dead
      from ductor.engine_node n where n.node_id = $1`,
    [nodeId, takerId],
  );
  return rows[0]?.dead === true;
}

/**
 * Takes shards that nobody owns; those another node is just taking are left to it.
 *
 * Locked in one statement, judged in the next: a `not exists` beside `for update` is not asked again when the row was
 * changed while the lock was awaited, and two nodes got the same shard that way.
 */
export async function claimShards(
  tx: Queryable,
  nodeId: string,
  shards: readonly number[],
): Promise<readonly number[]> {
  if (!(await holdUnfenced(tx, nodeId))) return [];
  const locked = await tx.query<Row & { shard: number }>(
    'select shard from ductor.shard_owner where shard = any($1::smallint[]) order by shard for update skip locked',
    [integerArray(shards)],
  );
  const { rows } = await tx.query<Row & { shard: number }>(
    `update ductor.shard_owner o set node_id = $1, epoch = o.epoch + 1
      where o.shard = any($2::smallint[])
        and not exists (select 1 from ductor.engine_node n where n.node_id = o.node_id)
      returning o.shard`,
    [nodeId, integerArray(shardsOf(locked.rows))],
  );
  return shardsOf(rows);
}

/** Moves these shards of one node to another. */
async function moveShards(
  tx: Queryable,
  fromNodeId: string,
  toNodeId: string,
  shards: readonly number[],
): Promise<readonly number[]> {
  const { rows } = await tx.query<Row & { shard: number }>(
    `update ductor.shard_owner set node_id = $2, epoch = epoch + 1
      where node_id = $1 and shard = any($3::smallint[]) returning shard`,
    [fromNodeId, toNodeId, integerArray(shards)],
  );
  return shardsOf(rows);
}

/** See ClusterStore.takeOver. The lock on the dead node's rows waits for its commits in flight. */
export async function takeOverShards(
  tx: Queryable,
  takerId: string,
  deadNodeId: string,
  shards: readonly number[],
  rule: LivenessRule,
): Promise<readonly number[]> {
  const isTakerFirst = takerId < deadNodeId;
  if (isTakerFirst && !(await holdUnfenced(tx, takerId))) return [];
  if (!(await holdForUpdate(tx, deadNodeId))) return [];
  if (!isTakerFirst && !(await holdUnfenced(tx, takerId))) return [];
  if (!(await isDead(tx, deadNodeId, takerId, rule))) return [];
  await countCrashes(tx, deadNodeId);
  await tx.query('update ductor.engine_node set fenced = true where node_id = $1', [deadNodeId]);
  const moved = await moveShards(tx, deadNodeId, takerId, shards);
  await tx.query('update ductor.shard_owner set crashed_at = ductor.now_us() where shard = any($1::smallint[])', [
    integerArray(moved),
  ]);
  await tx.query(
    `delete from ductor.engine_node
      where node_id = $1 and not exists (select 1 from ductor.shard_owner o where o.node_id = $1)`,
    [deadNodeId],
  );
  return moved;
}

/** See ClusterStore.handOver. Throws node_fenced when one of the two may not go on. */
export async function handOverShards(
  tx: Queryable,
  nodeId: string,
  toNodeId: string,
  shards: readonly number[],
): Promise<void> {
  for (const id of [nodeId, toNodeId].sort()) {
    if (!(await holdUnfenced(tx, id))) throw new DuctorError('node_fenced', `node ${id} is fenced or gone`);
  }
  const { rows } = await tx.query<Row & { leased: boolean | null }>(
    `select bool_and(${IS_LEASED}) as leased from ductor.engine_node n where n.node_id = $1`,
    [toNodeId],
  );
  if (rows[0]?.leased !== true) throw new DuctorError('node_fenced', `the lease of node ${toNodeId} has run out`);
  await moveShards(tx, nodeId, toNodeId, shards);
}
