/** Makes sure that a lost transaction of a node's lane has ended. */
import type { LaneNumber } from './commit-statement.js';
import type { Queryable } from '../../store/index.js';

/**
 * Waits until no transaction holds the node's row any more, then counts its lane session up: a statement that the lost
 * session had not begun yet finds the fence closed. Returns the new lane session; undefined when the node is fenced.
 *
 * @param tx a transaction on another session than the lost one
 */
export async function settleLane(tx: Queryable, nodeId: string, lane: LaneNumber): Promise<number | undefined> {
  // An update alone would not wait: renewing the row is compatible with the lock of the commit, on purpose.
  await tx.query('select 1 from ductor.engine_node where node_id = $1 and lane = $2 for update', [nodeId, lane]);
  const { rows } = await tx.query<{ lane_session: number }>(
    `update ductor.engine_node set lane_session = lane_session + 1
      where node_id = $1 and lane = $2 and not fenced returning lane_session`,
    [nodeId, lane],
  );
  return rows[0]?.lane_session;
}
