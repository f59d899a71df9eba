/** Drawing candidates by weight, without replacement. */
import type { Candidate, Context } from '../core/candidate.js';
import { hashRank } from '../core/hash.js';

/** So many places are drawn; whoever comes after them is ordered by hash, which costs no draws. */
const DRAWN_PLACES = 16;

/** Takes one out of a list, each with the probability of its weight. Weights are whole and at least 1. */
export function takeByWeight(
  left: Candidate[],
  weightOf: (candidate: Candidate) => number,
  context: Context,
): Candidate | undefined {
  let total = 0;
  for (const candidate of left) total += weightOf(candidate);
  if (total <= 0) return undefined;
  let point = context.stream.below(total);
  for (const [index, candidate] of left.entries()) {
    point -= weightOf(candidate);
    if (point < 0) return left.splice(index, 1)[0];
  }
  return undefined;
}

/** Fills the places with what `take` draws from those that are left; the rest follows by hash. */
export function drawPlaces(
  candidates: readonly Candidate[],
  context: Context,
  take: (left: Candidate[]) => Candidate | undefined,
): readonly Candidate[] {
  const left = [...candidates];
  const order: Candidate[] = [];
  while (order.length < DRAWN_PLACES) {
    const taken = take(left);
    if (taken === undefined) break;
    order.push(taken);
  }
  const ranks = new Map(left.map((candidate) => [candidate, hashRank(context.seed, candidate.words)]));
  left.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  return [...order, ...left];
}

/** All candidates in an order drawn by weight. */
export function drawByWeight(
  candidates: readonly Candidate[],
  weightOf: (candidate: Candidate) => number,
  context: Context,
): readonly Candidate[] {
  return drawPlaces(candidates, context, (left) => takeByWeight(left, weightOf, context));
}
