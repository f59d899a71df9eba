/** Strategies made of strategies: the next one when one finds nobody, one among the equals of another, and so on. */
import type { CelExpression } from '../../expressions/index.js';
import { DuctorError } from '../../kernel/index.js';
import { msOf, type ParamsOf } from '../../pools/index.js';
import type { Candidate, Context } from '../core/candidate.js';
import { grouped, type Exclusion, type Ranking, type Strategy } from './strategy.js';

type Excluded = readonly (readonly [Candidate, Exclusion])[];

/** chain: the first strategy that finds anybody. */
export function chain(strategies: readonly Strategy[]): Strategy {
  return (candidates, context, key) => {
    const excluded: (readonly [Candidate, Exclusion])[] = [];
    const notes: string[] = [];
    for (const [index, strategy] of strategies.entries()) {
      const ranking = strategy(candidates, context, `${key}/${index}`);
      notes.push(...(ranking.notes ?? []));
      if (ranking.groups.length > 0) return { ...ranking, notes: [...notes, `link ${index}`] };
      excluded.push(...(ranking.excluded ?? []));
    }
    return { groups: [], excluded, notes };
  };
}

/** Where each candidate's group stands among groups. */
function placesOf(groups: Ranking['groups']): ReadonlyMap<Candidate, number> {
  return new Map(groups.flatMap((group, index) => group.map((each): [Candidate, number] => [each, index])));
}

/** tie: the second strategy decides among those whom the first holds to be equal. */
export function tie(first: Strategy, second: Strategy): Strategy {
  return (candidates, context, key) => {
    const ranking = first(candidates, context, `${key}/0`);
    const decided: Ranking[] = ranking.groups.map((group) =>
      group.length === 1 ? { groups: [group] } : second(group, context, `${key}/1`),
    );
    const groups = decided.flatMap((each) => each.groups);
    const ofGroup = placesOf(ranking.groups);
    return {
      ...ranking,
      groups,
      excluded: [...(ranking.excluded ?? []), ...decided.flatMap((each) => each.excluded ?? [])],
      settle: (winners) => {
        const [winner] = winners;
        const inner = winner === undefined ? undefined : decided[ofGroup.get(winner) ?? -1];
        return [...(ranking.settle?.(winners) ?? []), ...(inner?.settle?.(winners.slice(0, 1)) ?? [])];
      },
    };
  };
}

/** Splits candidates by a condition; those on whom it fails are neither. */
function partition(
  candidates: readonly Candidate[],
  when: CelExpression,
  context: Context,
): {
  readonly matching: readonly Candidate[];
  readonly others: readonly Candidate[];
  readonly failed: readonly Candidate[];
} {
  const [matching, others, failed]: [Candidate[], Candidate[], Candidate[]] = [[], [], []];
  for (const candidate of candidates) {
    try {
      (context.evaluate(when, candidate) === true ? matching : others).push(candidate);
    } catch (caught) {
      if (!(caught instanceof DuctorError) || caught.code === 'internal') throw caught;
      failed.push(candidate);
    }
  }
  return { matching, others, failed };
}

/** prefer: those that match come first, the others after them; one on whom the condition fails does not match. */
export function prefer(when: CelExpression, inner: Strategy): Strategy {
  return (candidates, context, key) => {
    const { matching, others, failed } = partition(candidates, when, context);
    const rest = candidates.filter((each) => others.includes(each) || failed.includes(each));
    const [first, second] = [inner(matching, context, `${key}/0`), inner(rest, context, `${key}/0`)];
    const preferred = new Set(matching);
    return {
      ...first,
      groups: [...first.groups, ...second.groups],
      excluded: [...(first.excluded ?? []), ...(second.excluded ?? [])],
      settle: (winners) => {
        const isPreferred = winners[0] !== undefined && preferred.has(winners[0]);
        return (isPreferred ? first : second).settle?.(winners) ?? [];
      },
    };
  };
}

/** restrict: only those that match. */
export function restrict(when: CelExpression, inner: Strategy): Strategy {
  return (candidates, context, key) => {
    const { matching, others, failed } = partition(candidates, when, context);
    const excluded: Excluded = [
      ...others.map((each): [Candidate, Exclusion] => [each, 'rule_false']),
      ...failed.map((each): [Candidate, Exclusion] => [each, 'rule_error']),
    ];
    const ranking = inner(matching, context, `${key}/0`);
    return { ...ranking, excluded: [...excluded, ...(ranking.excluded ?? [])] };
  };
}

/** Points of each candidate for its place: 10,000 for the first, 0 for the last, the same within a group. */
function pointsOf(groups: Ranking['groups'], count: number): ReadonlyMap<Candidate, number> {
  const points = new Map<Candidate, number>();
  let before = 0;
  for (const group of groups) {
    const value = count <= 1 ? 10_000 : Math.floor((10_000 * (count - 1 - before)) / (count - 1));
    for (const each of group) points.set(each, value);
    before += group.length;
  }
  return points;
}

/** weighted_sum: the best sum of places, each weighed. Its strategies keep no state: none of them has chosen. */
export function weightedSum(params: ParamsOf<'weighted_sum'>, strategies: readonly Strategy[]): Strategy {
  return (candidates, context, key) => {
    const sums = new Map<Candidate, number>(candidates.map((each) => [each, 0]));
    for (const [index, strategy] of strategies.entries()) {
      const { groups } = strategy(candidates, context, `${key}/${index}`);
      for (const [each, points] of pointsOf(groups, candidates.length)) {
        sums.set(each, (sums.get(each) ?? 0) + points * (params.weights_bps[index] ?? 0));
      }
    }
    return { groups: grouped(candidates, (a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0)), scores: sums };
  };
}

/** exclude_previous: not those it was offered to last; when that leaves nobody, everybody again. */
export function excludePrevious(params: ParamsOf<'exclude_previous'>, inner: Strategy): Strategy {
  return (candidates, context, key) => {
    const last = new Set(context.previous.slice(0, params.count));
    const others = candidates.filter(({ id }) => !last.has(id));
    if (others.length === 0) return inner(candidates, context, `${key}/0`);
    const excluded = candidates
      .filter(({ id }) => last.has(id))
      .map((each): [Candidate, Exclusion] => [each, 'excluded_previous']);
    const ranking = inner(others, context, `${key}/0`);
    return { ...ranking, excluded: [...excluded, ...(ranking.excluded ?? [])] };
  };
}

/** Weight of one that came into the rotation a while ago; it grows evenly to the whole within the window. */
export function slowStartWeight(weightMilli: number, sinceUs: number, windowUs: number, minPct: number): number {
  if (sinceUs >= windowUs) return weightMilli;
  const pct = Math.max(minPct, Math.floor((Math.max(0, sinceUs) * 100) / windowUs));
  return Math.max(1, Math.floor((weightMilli * pct) / 100));
}

/** slow_start: newcomers get less at first. What other strategies return are the candidates as they were given. */
export function slowStart(params: ParamsOf<'slow_start'>, inner: Strategy): Strategy {
  const windowUs = msOf(params.window) * 1000;
  return (candidates, context, key) => {
    const originals = new Map<Candidate, Candidate>();
    const slowed = candidates.map((each) => {
      const sinceUs = context.nowUs - (each.facts.inRotationSinceUs ?? Number.NEGATIVE_INFINITY);
      const weightMilli = slowStartWeight(each.weightMilli, sinceUs, windowUs, params.min_pct);
      const copy = weightMilli === each.weightMilli ? each : { ...each, weightMilli };
      originals.set(copy, each);
      return copy;
    });
    const original = (each: Candidate): Candidate => originals.get(each) ?? each;
    const copies = new Map([...originals].map(([copy, each]) => [each, copy]));
    const ranking = inner(slowed, context, `${key}/0`);
    return {
      groups: ranking.groups.map((group) => group.map(original)),
      ...(ranking.ties === undefined ? {} : { ties: ranking.ties }),
      ...(ranking.propensity === undefined ? {} : { propensity: ranking.propensity }),
      ...(ranking.notes === undefined ? {} : { notes: ranking.notes }),
      excluded: (ranking.excluded ?? []).map(([each, why]) => [original(each), why] as const),
      settle: (winners) => ranking.settle?.(winners.map((each) => copies.get(each) ?? each)) ?? [],
    };
  };
}
