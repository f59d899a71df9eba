/**
 * In turn by weight, without bursts (nginx, 2012). State: `of`, the current weight of each recipient in thousandths,
 * and `left`, the moment of the last choice. Over as many choices as the weights sum to, each wins exactly its weight.
 */
import type { Candidate, Context, NodeState } from '../core/candidate.js';
import { groupedBy, stateOf, type Strategy } from './strategy.js';

/** Whether a recipient came into the rotation after the last choice: it then begins in the middle, like a new one. */
function isNew(candidate: Candidate, state: NodeState): boolean {
  const { of = {}, left = 0 } = state;
  return !Object.hasOwn(of, candidate.id) || (candidate.facts.inRotationSinceUs ?? 0) > left;
}

/**
 * Current weights before the choice. Recipients that left the pool are dropped; when anybody joined or left, all are
 * moved so that their mean is 0 again, and a newcomer at 0 is neither favoured nor held back.
 */
function currentWeights(candidates: readonly Candidate[], context: Context, state: NodeState): Map<string, number> {
  const known = Object.entries(state.of ?? {});
  const kept = known.filter(([id]) => context.members.has(id));
  const current = new Map<string, number>(kept);
  let isChanged = kept.length < known.length;
  for (const candidate of candidates) {
    if (!isNew(candidate, state)) continue;
    current.set(candidate.id, 0);
    isChanged = true;
  }
  if (!isChanged || current.size === 0) return current;
  let sum = 0;
  for (const weight of current.values()) sum += weight;
  const mean = Math.floor(sum / current.size);
  if (mean !== 0) for (const [id, weight] of current) current.set(id, weight - mean);
  return current;
}

/** smooth_weighted_round_robin */
export const smoothWeightedRoundRobin: Strategy = (candidates, context, key) => {
  const before = currentWeights(candidates, context, stateOf(context, key));
  const raised = (candidate: Candidate, times: number): number =>
    (before.get(candidate.id) ?? 0) + candidate.weightMilli * times;
  return {
    groups: groupedBy(candidates, (each) => -raised(each, 1)),
    ties: 'idle',
    settle: (winners) => {
      const total = candidates.reduce((sum, { weightMilli }) => sum + weightMilli, 0);
      const after = new Map(before);
      for (const candidate of candidates) after.set(candidate.id, raised(candidate, winners.length));
      for (const { id } of winners) after.set(id, (after.get(id) ?? 0) - total);
      return [{ key, state: { of: Object.fromEntries(after), left: context.nowUs } }];
    },
  };
};
