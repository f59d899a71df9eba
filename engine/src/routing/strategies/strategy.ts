/**
 * What a strategy is: a pure function from candidates, in order of their ids, to a ranking. It reads no clock, rolls no
 * dice but those of the context's stream, and keeps nothing: what it must know the next time, it says in `settle`.
 */
import type { Candidate, Change, Context, NodeState } from '../core/candidate.js';

/** How candidates are ordered that a strategy holds to be equal. */
export type Ties =
  /** Load, then time since the last assignment, then hash, then id. */
  | 'chain'
  /** The same without the load. */
  | 'idle'
  /** Hash, then id. */
  | 'hash';

/** Why a strategy left a candidate out. */
export type Exclusion =
  'score_error' | 'below_min_score' | 'rule_false' | 'rule_error' | 'skill_missing' | 'excluded_previous';

/** What a strategy answers. */
export interface Ranking {
  /** Best first; those in one group are equal in the strategy's eyes. Nobody stands twice, nobody is invented. */
  readonly groups: readonly (readonly Candidate[])[];
  /** Default: chain. */
  readonly ties?: Ties;
  /** Probability that the first one wins, where it is known: numerator and denominator. */
  readonly propensity?: readonly [numerator: number, denominator: number];
  /** How many a slate has, when the strategy says it. */
  readonly slate?: number;
  readonly excluded?: readonly (readonly [Candidate, Exclusion])[];
  /** Scores in millionths, for the explanation. */
  readonly scores?: ReadonlyMap<Candidate, number>;
  /** What the explanation says besides: the arm, the ring, that a breach is to be expected. */
  readonly notes?: readonly string[];
  /** What becomes of the state once these are admitted. */
  readonly settle?: (winners: readonly Candidate[]) => readonly Change[];
}

/** @param key place of the strategy in its pool's tree, under which its state stands */
export type Strategy = (candidates: readonly Candidate[], context: Context, key: string) => Ranking;

/** State of a strategy; empty before its first choice. */
export function stateOf(context: Context, key: string): NodeState {
  return (Object.hasOwn(context.state, key) ? context.state[key] : undefined) ?? {};
}

/** Groups of one. */
export function singly(candidates: readonly Candidate[]): readonly (readonly Candidate[])[] {
  return candidates.map((candidate) => [candidate]);
}

/** Sorted by a number, lowest first, equal ones in a group. */
export function groupedBy(
  candidates: readonly Candidate[],
  keyOf: (candidate: Candidate) => number,
): readonly (readonly Candidate[])[] {
  const keyed = candidates.map((candidate) => ({ candidate, key: keyOf(candidate) }));
  keyed.sort((a, b) => a.key - b.key);
  const groups: Candidate[][] = [];
  let last: number | undefined;
  for (const { candidate, key } of keyed) {
    if (key === last) groups.at(-1)?.push(candidate);
    else groups.push([candidate]);
    last = key;
  }
  return groups;
}

/**
 * Sorted by a comparison, equal ones in a group. The comparison must be transitive; candidates stay in order of their
 * ids within a group.
 */
export function grouped(
  candidates: readonly Candidate[],
  compare: (a: Candidate, b: Candidate) => number,
): readonly (readonly Candidate[])[] {
  const groups: Candidate[][] = [];
  let last: Candidate | undefined;
  for (const candidate of candidates.toSorted(compare)) {
    if (last !== undefined && compare(last, candidate) === 0) groups.at(-1)?.push(candidate);
    else groups.push([candidate]);
    last = candidate;
  }
  return groups;
}
