/**
 * The lowest latency by a moving average that jumps at peaks and decays (Finagle's peak EWMA), times the work it has.
 * State: the average and its moment in the recipients' facts.
 */
import { msOf, type ParamsOf } from '../../pools/index.js';
import type { Candidate, Context, RecipientFacts } from '../core/candidate.js';
import { decay } from '../core/fixed-point.js';
import { drawPlaces } from './draws.js';
import { takeBestOf } from './power-of-two-choices.js';
import { grouped, singly, type Strategy } from './strategy.js';

type Params = ParamsOf<'latency_ewma'>;

/** Expected time of one more, in us: those who were never asked begin slow and are tried as that decays. */
function costOf(candidate: Candidate, { nowUs }: Context, params: Params): number {
  const { latencyUs, latencyAtUs, inRotationSinceUs } = candidate.facts;
  const estimate = latencyUs ?? msOf(params.default_latency) * 1000;
  const since = latencyUs === undefined ? (inRotationSinceUs ?? nowUs) : (latencyAtUs ?? nowUs);
  return decay(Math.floor(estimate), nowUs - since, msOf(params.half_life) * 1000) * (candidate.load + 1);
}

/** latency_ewma */
export function latencyEwma(params: Params): Strategy {
  return (candidates, context) => {
    const costs = new Map(candidates.map((each) => [each, costOf(each, context, params)]));
    const best = Math.min(...costs.values());
    const limit = best + Math.floor((best * params.buffer_bps) / 10_000);
    const costWithin = (each: Candidate): number => {
      const cost = costs.get(each) ?? 0;
      return cost <= limit ? best : cost;
    };
    const compare = (a: Candidate, b: Candidate): number => costWithin(a) - costWithin(b);
    if (params.pick === 'min') return { groups: grouped(candidates, compare) };
    const rule = { compare, weightOf: () => 1 };
    return { groups: singly(drawPlaces(candidates, context, (left) => takeBestOf(left, 2, context, rule))) };
  };
}

/** How much worse than it took a failure counts. */
const FAILURE_PENALTY = 2;

/**
 * The average after an outcome. A peak counts at once, anything faster only as the old average decays.
 *
 * @param outcome.latencyUs how long it took, also when it failed
 * @param halfLifeUs of the pool's latency_ewma; default 10 s
 */
export function afterLatency(
  facts: Pick<RecipientFacts, 'latencyUs' | 'latencyAtUs'>,
  outcome: { readonly atUs: number; readonly latencyUs: number; readonly isSuccess: boolean },
  halfLifeUs = 10_000_000,
): { readonly latencyUs: number; readonly latencyAtUs: number } {
  const before = facts.latencyUs ?? 0;
  const seen = outcome.isSuccess ? outcome.latencyUs : Math.max(before, outcome.latencyUs) * FAILURE_PENALTY;
  if (seen >= before) return { latencyUs: seen, latencyAtUs: outcome.atUs };
  const elapsedUs = outcome.atUs - (facts.latencyAtUs ?? outcome.atUs);
  const latencyUs = seen + decay(before - seen, elapsedUs, halfLifeUs);
  return { latencyUs, latencyAtUs: Math.max(outcome.atUs, facts.latencyAtUs ?? 0) };
}
