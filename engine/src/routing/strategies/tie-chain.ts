/** The order among equals: load, then time since the last assignment, then a hash under the seed, then the id. */
import type { Candidate, Context } from '../core/candidate.js';
import { hashRank } from '../core/hash.js';
import type { Ties } from './strategy.js';

/**
 * Compares how loaded two candidates are: load / cap when every candidate has a cap, else load / weight. By
 * multiplication, which is exact.
 */
export function compareLoad(a: Candidate, b: Candidate, isCapped: boolean): number {
  if (isCapped) return a.load * (b.cap ?? 1) - b.load * (a.cap ?? 1);
  return a.load * b.weightMilli - b.load * a.weightMilli;
}

/** Compares two moments; never is before all. */
export function compareMoments(a: number | undefined, b: number | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  return b === undefined ? 1 : a - b;
}

/** Compares two texts by their UTF-16 units; no locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Puts equals in order. The hash, and with it the seed, is only asked for where nothing before it decides. */
export function orderEquals(group: readonly Candidate[], context: Context, ties: Ties): readonly Candidate[] {
  if (group.length < 2) return group;
  return group.toSorted((a, b) => {
    const byLoad = ties === 'chain' ? compareLoad(a, b, context.isCapped) : 0;
    if (byLoad !== 0) return byLoad;
    const byIdle = ties === 'hash' ? 0 : compareMoments(a.facts.lastAssignedUs, b.facts.lastAssignedUs);
    if (byIdle !== 0) return byIdle;
    const { seed } = context;
    return hashRank(seed, a.words) - hashRank(seed, b.words) || compareText(a.id, b.id);
  });
}
