/** Whoever beats the deadline by most. State: response times and latencies in the recipients' facts. */
import { msOf, type ParamsOf } from '../../pools/index.js';
import type { Candidate } from '../core/candidate.js';
import { grouped, type Strategy } from './strategy.js';

/** Number of buckets of response times. */
export const RESPONSE_BUCKETS = 32;

/** The bucket of a response time: the i-th holds 2^i to 2^(i+1) ms. */
export function bucketOf(responseMs: number): number {
  return Math.min(
    RESPONSE_BUCKETS - 1,
    Math.max(0, 31 - Math.clz32(Math.max(1, Math.floor(Math.min(responseMs, 2 ** 31))))),
  );
}

/** The upper edge, in us, of the bucket that 90 % of the response times do not exceed; undefined without any. */
function p90Us(responses: readonly number[] | undefined): number | undefined {
  const total = (responses ?? []).reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let seen = 0;
  const bucket = (responses ?? []).findIndex((count) => {
    seen += count;
    return seen * 10 >= total * 9;
  });
  return 2 ** (bucket + 1) * 1000;
}

/** Response times of all together, for those who have none of their own. */
function pooled(candidates: readonly Candidate[]): readonly number[] {
  const sum = new Array<number>(RESPONSE_BUCKETS).fill(0);
  for (const { facts } of candidates) {
    for (const [bucket, count] of (facts.responses ?? []).entries()) sum[bucket] = (sum[bucket] ?? 0) + count;
  }
  return sum;
}

/**
 * How much sooner than the deadline each will have answered, us: what is left, less the work it has and its usual
 * response time (90 % of its responses; of all together for who has none).
 */
export function headrooms(candidates: readonly Candidate[], leftUs: number): ReadonlyMap<Candidate, number> {
  const usual = p90Us(pooled(candidates)) ?? 0;
  return new Map(
    candidates.map((each) => {
      const queueUs = each.load * (each.facts.latencyUs ?? 0);
      return [each, leftUs - queueUs - (p90Us(each.facts.responses) ?? usual)];
    }),
  );
}

/** sla_deadline */
export function slaDeadline(params: ParamsOf<'sla_deadline'>): Strategy {
  const grainUs = msOf(params.grain) * 1000;
  const leastUs = msOf(params.min_headroom) * 1000;
  return (candidates, { nowUs, dueUs, routable }) => {
    const withinUs = params.within === undefined ? undefined : msOf(params.within) * 1000;
    const due = withinUs === undefined ? dueUs : (routable.receivedUs ?? nowUs) + withinUs;
    if (due === undefined) return { groups: candidates.length === 0 ? [] : [candidates], notes: ['no deadline'] };
    const left = headrooms(candidates, due - nowUs);
    const inTime = candidates.filter((each) => (left.get(each) ?? 0) >= leastUs);
    const isBreach = inTime.length === 0;
    const ranked = isBreach && params.when_none === 'rank' ? candidates : inTime;
    const grain = (each: Candidate): number => Math.floor((left.get(each) ?? 0) / grainUs);
    return {
      groups: grouped(ranked, (a, b) => grain(b) - grain(a)),
      scores: left,
      ...(isBreach ? { notes: ['breach_predicted'] } : {}),
    };
  };
}
