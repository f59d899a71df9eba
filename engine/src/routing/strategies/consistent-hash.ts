/**
 * The same recipient for the same key, by weighted rendezvous hashing: when one leaves, only its keys move. In whole
 * numbers: -log2 of a hash in 40 fractional bits. No state.
 */
import type { CelExpression } from '../../expressions/index.js';
import type { ParamsOf } from '../../pools/index.js';
import type { Candidate } from '../core/candidate.js';
import { negLog2Q40 } from '../core/fixed-point.js';
import { hash64 } from '../core/hash.js';
import { singly, type Strategy } from './strategy.js';
import { compareText } from './tie-chain.js';

/** Whether one more would put a candidate above (1 + ε) of its fair share of all load. */
function isAboveBound(candidate: Candidate, pct: number, totalLoad: number, totalWeight: number): boolean {
  const share = BigInt(100 + pct) * BigInt(totalLoad + 1) * BigInt(candidate.weightMilli);
  const whole = 100n * BigInt(totalWeight);
  return BigInt(candidate.load + 1) > (share + whole - 1n) / whole;
}

/** consistent_hash */
export function consistentHash(params: ParamsOf<'consistent_hash'>, key: CelExpression): Strategy {
  const { salt, bounded_load_pct: pct } = params;
  return (candidates, context) => {
    const text = String(context.evaluate(key));
    const distances = new Map(candidates.map((each) => [each, negLog2Q40(hash64(salt, text, each.id))]));
    const order = candidates.toSorted((a, b) => {
      const left = (distances.get(a) ?? 0n) * BigInt(b.weightMilli);
      const right = (distances.get(b) ?? 0n) * BigInt(a.weightMilli);
      if (left !== right) return left < right ? -1 : 1;
      return compareText(a.id, b.id);
    });
    if (pct === undefined) return { groups: singly(order) };
    const load = candidates.reduce((sum, each) => sum + each.load, 0);
    const weight = candidates.reduce((sum, each) => sum + each.weightMilli, 0);
    const isFull = (each: Candidate): boolean => isAboveBound(each, pct, load, weight);
    return { groups: singly([...order.filter((each) => !isFull(each)), ...order.filter(isFull)]) };
  };
}
