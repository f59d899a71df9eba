/**
 * In turn, by id. State: `at`, the id of the last winner; an id, not an index, so that joining and leaving skips
 * nobody.
 */
import type { Candidate, Context } from '../core/candidate.js';
import { hash64 } from '../core/hash.js';
import { singly, stateOf, type Strategy } from './strategy.js';

/** Index of whose turn it is: the first id after the last winner's. */
export function indexAfter(candidates: readonly Candidate[], last: string): number {
  const index = candidates.findIndex(({ id }) => id > last);
  return index === -1 ? 0 : index;
}

/** Where a pool begins: not with its first recipient, or many pools would all begin with the same one. */
export function firstIndex(candidates: readonly Candidate[], context: Context): number {
  return candidates.length === 0 ? 0 : Number(hash64(context.poolId) % BigInt(candidates.length));
}

/** round_robin */
export const roundRobin: Strategy = (candidates, context, key) => {
  const { at } = stateOf(context, key);
  const start = at === undefined ? firstIndex(candidates, context) : indexAfter(candidates, at);
  return {
    groups: singly([...candidates.slice(start), ...candidates.slice(0, start)]),
    settle: (winners) => winners.slice(-1).map(({ id }) => ({ key, state: { at: id } })),
  };
};
