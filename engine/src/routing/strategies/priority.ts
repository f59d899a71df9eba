/**
 * Tier by tier: the lowest tier with anybody in it chooses, by its own strategy. With `unhealthy_fraction` work spills
 * to the next tier as soon as part of a tier is away (Envoy's priority levels). State: that of each tier's strategy.
 */
import type { ParamsOf } from '../../pools/index.js';
import type { Candidate, Context } from '../core/candidate.js';
import type { Ranking, Strategy } from './strategy.js';

type Params = ParamsOf<'priority'>;

/** The tier whose turn it is: each takes its share of 100, as far as it is healthy, and passes the rest on. */
function drawTier(
  tiers: readonly number[],
  sizes: ReadonlyMap<number, number>,
  context: Context,
  params: Params,
): number {
  let point = context.stream.below(100);
  for (const tier of tiers) {
    const members = [...context.members.values()].filter((each) => each === tier).length;
    const share = Math.min(100, Math.floor(((sizes.get(tier) ?? 0) * params.overprovision_pct) / Math.max(1, members)));
    if (point < share) return tier;
    point -= share;
  }
  return tiers[0] ?? 0;
}

/** priority */
export function priority(params: Params, inner: Strategy): Strategy {
  return (candidates, context, key) => {
    const byTier = new Map<number, Candidate[]>();
    for (const candidate of candidates) {
      const tier = byTier.get(candidate.tier) ?? [];
      tier.push(candidate);
      byTier.set(candidate.tier, tier);
    }
    const tiers = [...byTier.keys()].sort((a, b) => a - b);
    const sizes = new Map([...byTier].map(([tier, { length }]) => [tier, length]));
    const first = params.spill === 'empty' ? tiers[0] : drawTier(tiers, sizes, context, params);
    if (first === undefined) return { groups: [] };
    const order = [first, ...tiers.filter((tier) => tier !== first)];
    const rankings = order.map((tier): readonly [number, Ranking] => {
      return [tier, inner(byTier.get(tier) ?? [], context, `${key}/${tier}`)];
    });
    return {
      groups: rankings.flatMap(([, { groups }]) => groups),
      notes: [`tier ${first}`],
      settle: (winners) =>
        rankings.flatMap(([tier, ranking]) => {
          const own = winners.filter((winner) => winner.tier === tier);
          return own.length === 0 ? [] : (ranking.settle?.(own) ?? []);
        }),
    };
  };
}
