/** The closed sets of strategies and recipes. */

/** Strategies that choose by themselves: they may stand in `strategy`. */
const LEAF_STRATEGIES = [
  'round_robin',
  'weighted_round_robin',
  'smooth_weighted_round_robin',
  'random',
  'weighted_random',
  'least_loaded',
  'least_request',
  'least_recently_assigned',
  'power_of_two_choices',
  'waterfall',
  'consistent_hash',
  'score',
  'skills_match',
  'lowest_cost',
  'latency_ewma',
  'success_rate_thompson',
  'success_rate_ucb1',
  'fair_share',
  'sla_deadline',
] as const;

/** Strategies that choose by others, named in `of`. Those marked in COMBINATOR_DEFAULTS may stand in `strategy` too. */
export const COMBINATORS = [
  'priority',
  'sticky',
  'top_k',
  'split',
  'chain',
  'tie',
  'prefer',
  'restrict',
  'weighted_sum',
  'exclude_previous',
  'slow_start',
  'custom',
  'seat_affinity',
  'escalate_on_retry',
  'shark_tank',
] as const;

/** Name of a strategy. */
export type StrategyName = (typeof LEAF_STRATEGIES)[number] | (typeof COMBINATORS)[number];

/** Every name of a strategy. */
export const STRATEGY_NAMES: readonly [StrategyName, ...StrategyName[]] = [...LEAF_STRATEGIES, ...COMBINATORS];

/** Ready-made trees of strategies. */
export const RECIPES = [
  'sla_rescue',
  'fair_rotation',
  'sticky_least_loaded',
  'cheapest_healthy',
  'best_skill_relax',
  'canary',
  'seat_pool',
  'model_ladder',
  'lead_pond',
  'speed_to_lead',
] as const;

/** Name of a recipe. */
export type RecipeName = (typeof RECIPES)[number];

/**
 * Strategies whose choice depends on earlier ones: their state is read under a lock before each choice, so they
 * serialise their pool. (weights, loads and statistics are no state of a strategy.)
 */
export const STATEFUL_STRATEGIES: readonly StrategyName[] = [
  'round_robin',
  'weighted_round_robin',
  'smooth_weighted_round_robin',
  'fair_share',
  'sticky',
  'seat_affinity',
  'escalate_on_retry',
];
