/** Recipes: names for trees that answer a whole question. */
import { z } from 'zod';
import { count, duration } from '../fields/primitives.js';
import { RECIPES, type RecipeName } from './names.js';

/** A recipe as users write it. */
export const recipeField = z.strictObject({
  name: z.enum(RECIPES),
  params: z
    .strictObject({
      within: duration(1000, 2_592_000_000).optional(),
      key: z.string().optional(),
      ttl: duration(1000, 2_592_000_000).optional(),
      previous: count(1, 50).optional(),
      tolerance_bps: count(0, 10_000).optional(),
      min_success: z.number().min(0).max(1).optional(),
      share_bps: count(1, 9_999).optional(),
      min_success_rate: z.number().min(0).max(1).optional(),
      min_samples: count(1, 1_000_000).optional(),
      strategies: z.array(z.string()).length(2).optional(),
    })
    .optional(),
});

/** A checked recipe. */
export type Recipe = z.output<typeof recipeField>;

type Params = NonNullable<Recipe['params']>;

/** Leaves out what is undefined. */
function given(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}

/** What each recipe stands for, before its parameters are checked as those of a tree are. */
const TREES: Readonly<Record<RecipeName, (params: Params) => unknown>> = {
  sla_rescue: ({ within }) => ({
    strategy: 'chain',
    of: [
      { strategy: 'sla_deadline', params: given({ within, when_none: 'empty' }) },
      { strategy: 'tie', of: ['least_loaded', 'least_recently_assigned'] },
    ],
  }),
  fair_rotation: ({ previous }) => ({
    strategy: 'exclude_previous',
    params: given({ count: previous }),
    of: [{ strategy: 'tie', of: ['fair_share', 'least_recently_assigned'] }],
  }),
  sticky_least_loaded: ({ key, ttl }) => ({
    strategy: 'sticky',
    params: given({ key: key ?? 'routable.id', ttl }),
    of: ['least_loaded'],
  }),
  cheapest_healthy: ({ tolerance_bps, min_success }) => ({
    strategy: 'restrict',
    params: { when: `stats.success_rate >= ${(min_success ?? 0.9).toFixed(4)}` },
    of: [
      {
        strategy: 'tie',
        of: [
          { strategy: 'lowest_cost', params: { tolerance_bps: tolerance_bps ?? 200 } },
          { strategy: 'latency_ewma', params: { pick: 'min' } },
        ],
      },
    ],
  }),
  best_skill_relax: () => ({ strategy: 'tie', of: ['skills_match', 'least_loaded'] }),
  canary: ({ share_bps, strategies }) => ({
    strategy: 'split',
    params: { bps: [10_000 - (share_bps ?? 500), share_bps ?? 500] },
    of: strategies ?? ['round_robin', 'least_loaded'],
  }),
  seat_pool: ({ key, ttl }) => ({
    strategy: 'seat_affinity',
    params: given({ key, ttl }),
    of: ['smooth_weighted_round_robin'],
  }),
  model_ladder: ({ key, ttl, min_success_rate, min_samples }) => ({
    strategy: 'escalate_on_retry',
    params: given({ key, ttl, min_success_rate, min_samples }),
    of: [{ strategy: 'latency_ewma', params: { pick: 'p2c' } }],
  }),
  lead_pond: ({ ttl }) => ({
    strategy: 'shark_tank',
    params: given({ claim_ttl: ttl }),
    of: ['least_recently_assigned'],
  }),
  speed_to_lead: ({ within, ttl }) => ({
    strategy: 'shark_tank',
    params: { claim_ttl: within ?? '300s', waves: [{ size: 1 }, { after: ttl ?? '60s' }] },
    of: [{ strategy: 'sla_deadline', params: { within: within ?? '300s' } }],
  }),
};

/** The tree of a recipe, to be read by readTree. */
export function treeOfRecipe({ name, params }: Recipe): unknown {
  return TREES[name](params ?? {});
}
