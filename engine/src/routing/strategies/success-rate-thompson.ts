/**
 * Thompson sampling: each is given a success rate drawn from what is known of it, the best draw wins. Draws of
 * Beta(a, b) are exact for whole a and b: the a-th smallest of a + b - 1 uniform numbers. No floats, no state of its
 * own.
 */
import { msOf, type ParamsOf } from '../../pools/index.js';
import type { Candidate, Context } from '../core/candidate.js';
import { shuffle } from '../core/stream.js';
import { grouped, singly, type Strategy } from './strategy.js';
import { countsAt } from './success-counts.js';

/** Above this sum the counts are scaled down: the draw costs as many numbers. */
const COUNT_MAX = 200;

/** Whole parameters of the distribution; both at least 1, together at most COUNT_MAX. */
function betaOf(successMilli: number, failureMilli: number): readonly [a: number, b: number] {
  const a = 1 + Math.round(successMilli / 1000);
  const b = 1 + Math.round(failureMilli / 1000);
  if (a + b <= COUNT_MAX) return [a, b];
  const scaled = Math.min(COUNT_MAX - 1, Math.max(1, Math.floor((a * COUNT_MAX) / (a + b))));
  return [scaled, COUNT_MAX - scaled];
}

function drawBeta(a: number, b: number, { stream }: Context): number {
  const draws = new Float64Array(a + b - 1);
  for (let index = 0; index < draws.length; index += 1) draws[index] = stream.bits53();
  return draws.sort()[a - 1] ?? 0;
}

/** success_rate_thompson */
export function successRateThompson(params: ParamsOf<'success_rate_thompson'>): Strategy {
  const halfLifeUs = msOf(params.half_life) * 1000;
  return (candidates, context) => {
    if (params.min_explore_bps > 0 && context.stream.below(10_000) < params.min_explore_bps) {
      return { groups: singly(shuffle([...candidates], context.stream)), notes: ['explores'] };
    }
    const rates = new Map<Candidate, number>();
    for (const candidate of candidates) {
      const { successMilli, failureMilli } = countsAt(candidate.facts, context.nowUs, halfLifeUs);
      const [a, b] = betaOf(successMilli, failureMilli);
      rates.set(candidate, drawBeta(a, b, context));
    }
    return { groups: grouped(candidates, (x, y) => (rates.get(y) ?? 0) - (rates.get(x) ?? 0)) };
  };
}
