/**
 * In turn, each as many times in a row as its weight says. State: `at`, the id of the last winner, and `left`, how many
 * more times it is served. For locality of batches; smooth_weighted_round_robin sends no bursts.
 */
import type { ParamsOf } from '../../pools/index.js';
import type { Candidate } from '../core/candidate.js';
import { gcd } from '../core/fixed-point.js';
import { firstIndex, indexAfter } from './round-robin.js';
import { singly, stateOf, type Strategy } from './strategy.js';

/** Times in a row for each: weights without their common divisor, scaled down when the longest exceeds `maxBlock`. */
function blocksOf(candidates: readonly Candidate[], maxBlock: number): ReadonlyMap<string, number> {
  const divisor = candidates.reduce((common, { weightMilli }) => gcd(common, weightMilli), 0);
  const longest = candidates.reduce((most, { weightMilli }) => Math.max(most, weightMilli / divisor), 1);
  return new Map(
    candidates.map(({ id, weightMilli }) => {
      const times = weightMilli / divisor;
      return [id, longest <= maxBlock ? times : Math.max(1, Math.floor((times * maxBlock) / longest))];
    }),
  );
}

/** weighted_round_robin */
export function weightedRoundRobin(params: ParamsOf<'weighted_round_robin'>): Strategy {
  return (candidates, context, key) => {
    const { at, left = 0 } = stateOf(context, key);
    const current = left > 0 ? candidates.findIndex(({ id }) => id === at) : -1;
    const turn = at === undefined ? firstIndex(candidates, context) : indexAfter(candidates, at);
    const start = current === -1 ? turn : current;
    return {
      groups: singly([...candidates.slice(start), ...candidates.slice(0, start)]),
      settle: (winners) =>
        winners.slice(-1).map(({ id }) => {
          if (id === at && left > 0) return { key, state: { at: id, left: left - 1 } };
          return { key, state: { at: id, left: (blocksOf(candidates, params.max_block).get(id) ?? 1) - 1 } };
        }),
    };
  };
}
