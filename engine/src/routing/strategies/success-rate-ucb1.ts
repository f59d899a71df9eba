/** The best success rate that may still be true (UCB1): no dice. Those never tried come first. No state of its own. */
import { msOf, type ParamsOf } from '../../pools/index.js';
import type { Candidate } from '../core/candidate.js';
import { isqrt, log2Q40 } from '../core/fixed-point.js';
import { grouped, type Strategy } from './strategy.js';
import { countsAt, type Counts } from './success-counts.js';

/** ln 2 in 40 fractional bits. */
const LN2_Q40 = 762_123_384_785n;

/** ln of a number of thousandths, in 40 fractional bits; 0 below one. */
function lnQ40(milli: bigint): bigint {
  if (milli <= 1000n) return 0n;
  return ((log2Q40(milli) - log2Q40(1000n)) * LN2_Q40) >> 40n;
}

/** s/n + sqrt(2 ln t / n) in 32 fractional bits; undefined when it was never tried. */
function indexOf({ successMilli, failureMilli }: Counts, lnTotal: bigint): bigint | undefined {
  const tries = BigInt(successMilli + failureMilli);
  if (tries === 0n) return undefined;
  const mean = (BigInt(successMilli) << 32n) / tries;
  return mean + isqrt(((2n * lnTotal * 1000n) << 24n) / tries);
}

/** success_rate_ucb1 */
export function successRateUcb1(params: ParamsOf<'success_rate_ucb1'>): Strategy {
  const halfLifeUs = msOf(params.half_life) * 1000;
  return (candidates, { nowUs }) => {
    const counts = new Map(candidates.map((each) => [each, countsAt(each.facts, nowUs, halfLifeUs)]));
    let total = 0;
    for (const { successMilli, failureMilli } of counts.values()) total += successMilli + failureMilli;
    const lnTotal = lnQ40(BigInt(total));
    const indexes = new Map<Candidate, bigint | undefined>();
    for (const [each, count] of counts) indexes.set(each, indexOf(count, lnTotal));
    return {
      groups: grouped(candidates, (a, b) => {
        const [left, right] = [indexes.get(a), indexes.get(b)];
        if (left === right) return 0;
        if (left === undefined) return -1;
        return right === undefined || left < right ? 1 : -1;
      }),
      ties: 'hash',
    };
  };
}
