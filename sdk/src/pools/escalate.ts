/** Models as tiers: retries climb, and tiers that succeed too seldom are passed. */
import type { ModelASTNode, PoolNode } from './pool-node.js';
import type { PoolState } from './pool-state.js';

/**
 * The lowest good tier from the attempt's and the run's own on; when that leaves none, the highest that is free. Notes
 * how high the run has come.
 *
 * @param free items that may be chosen, in the order of the pool
 * @returns undefined when nothing is free
 */
export function escalate<T extends ModelASTNode>(
  pool: PoolNode<T>,
  free: readonly T[],
  state: PoolState,
  runId: string,
  retryAttempt: number,
): T | undefined {
  const { items } = pool;
  const from = Math.max(Math.min(retryAttempt, items.length - 1), state.tiers.get(runId) ?? 0);
  const good = items.slice(from).find((item) => free.includes(item) && !state.isPoor(item, pool));
  const chosen = good ?? free.at(-1);
  if (chosen === undefined) return undefined;
  state.tiers.set(runId, Math.max(items.indexOf(chosen), state.tiers.get(runId) ?? 0));
  return chosen;
}
