/** The cheapest; those within a tolerance of it are equals, so that not everything goes to one. No state. */
import type { ParamsOf } from '../../pools/index.js';
import type { Candidate } from '../core/candidate.js';
import { drawByWeight } from './draws.js';
import { grouped, singly, type Strategy } from './strategy.js';

/** What is not priced costs more than anything that is. */
function compareCosts(a: bigint | undefined, b: bigint | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  return b === undefined || a < b ? -1 : 1;
}

const SCALE = 10n ** 12n;

/** Weight of a draw: the inverse square of the cost, at least 1. What is not priced weighs 1. */
function inverseSquare({ costMicros }: Candidate): number {
  if (costMicros === undefined) return 1;
  // Costs are taken in hundredths of a cent, so that usual prices keep their ratio within the scale.
  const cost = costMicros / 100n;
  return cost === 0n ? Number(SCALE) : Math.max(1, Number(SCALE / (cost * cost)));
}

/** lowest_cost */
export function lowestCost({ variant, tolerance_bps }: ParamsOf<'lowest_cost'>): Strategy {
  if (variant === 'inverse_square') {
    return (candidates, context) => ({ groups: singly(drawByWeight(candidates, inverseSquare, context)) });
  }
  return (candidates) => {
    const costs = candidates.flatMap(({ costMicros }) => costMicros ?? []);
    const best = costs.reduce<bigint | undefined>(
      (least, cost) => (least === undefined || cost < least ? cost : least),
      undefined,
    );
    const limit = best === undefined ? undefined : (best * BigInt(10_000 + tolerance_bps)) / 10_000n;
    const rounded = (cost: bigint | undefined): bigint | undefined =>
      cost !== undefined && limit !== undefined && cost <= limit ? best : cost;
    return { groups: grouped(candidates, (a, b) => compareCosts(rounded(a.costMicros), rounded(b.costMicros))) };
  };
}
