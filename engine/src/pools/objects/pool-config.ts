/** A pool's configuration: every field, what it may hold, and what holds when it is absent. */
import { z } from 'zod';
import type { CelCompiler } from '../../expressions/index.js';
import { CANDIDATE_SCHEMA, ROUTABLE_SCHEMA } from '../cel-schemas.js';
import { expressionField } from '../fields/expression-field.js';
import { count, duration, idField, instantField, refuse, text } from '../fields/primitives.js';
import { scheduleField } from '../schedule/schedule.js';
import { STRATEGY_NAMES } from '../strategy/names.js';
import { recipeField, treeOfRecipe } from '../strategy/recipes.js';
import { readTree } from '../strategy/tree.js';
import { claimField } from './claim.js';
import { enrichmentsField } from './enrichment.js';
import { fallbackField } from './fallback.js';
import { slaField } from './sla.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const PLAIN = {
  routing_mode: z.enum(['auto', 'claim']).optional(),
  default_timeout: duration(100, DAY).optional(),
  offer_timeout: duration(SECOND, DAY).optional(),
  requires_acceptance: z.boolean().optional(),
  max_offers: count(1, 50).optional(),
  max_routing_depth: count(1, 10).optional(),
  max_admission_attempts: count(1, 10).optional(),
  slate_size: count(1, 100).optional(),
  queue: z
    .strictObject({
      order: z.enum(['priority_age', 'fifo', 'lifo']).optional(),
      age_weight_per_min: count(0, 1000).optional(),
      max_depth: count(0, 1_000_000).optional(),
      ttl: duration(SECOND, 90 * DAY).optional(),
    })
    .optional(),
  health: z
    .strictObject({
      max_ejected_pct: count(0, 100).optional(),
      panic_pct: count(0, 100).optional(),
      base: duration(SECOND, DAY).optional(),
      max: duration(SECOND, 7 * DAY).optional(),
      consecutive: count(0, 1000).optional(),
      reset_after: duration(SECOND, 30 * DAY).optional(),
    })
    .optional(),
  slow_start: z.strictObject({ window: duration(SECOND, DAY), min_pct: count(10, 100).optional() }).optional(),
  fallback: z.union([fallbackField, z.array(fallbackField).max(8)]).optional(),
  overflow_pool_id: idField.optional(),
  catchall_pool_id: idField.optional(),
  fallback_recipient_id: idField.optional(),
  allow_over_capacity: z.boolean().optional(),
  over_capacity_budget: count(0, 1000).optional(),
  capacity_headroom_pct: count(0, 90).optional(),
  headroom_priority: count(-1_000_000, 1_000_000).optional(),
  claim_queue_id: idField.optional(),
  claim: claimField.optional(),
  sla: slaField.optional(),
  schedule: scheduleField.optional(),
  retention: z.strictObject({ decisions: duration(HOUR, 3660 * DAY).optional() }).optional(),
  seed_key_id: text(64, 1).optional(),
  expose_metadata: z.boolean().optional(),
  strategy_params: z.record(z.string(), z.unknown()).optional(),
} as const;

/** The schema of PoolConfig, expressions checked by a compiler. Absent fields stay absent. */
export function poolConfigSchema(compiler: CelCompiler) {
  const tree = z.unknown().superRefine((value, context) => void readTree(compiler, value, context));
  const key = expressionField(compiler, ROUTABLE_SCHEMA, 'string');
  const recipe = recipeField.superRefine((value, context) => void readTree(compiler, treeOfRecipe(value), context));
  const shadow = z
    .strictObject({
      strategy: z.enum(STRATEGY_NAMES).optional(),
      recipe: recipe.optional(),
      strategy_tree: tree.optional(),
      sample_bps: count(1, 10_000).optional(),
      until: instantField.optional(),
    })
    .superRefine(checkOneStrategy);
  return z.strictObject({
    ...PLAIN,
    recipe: recipe.optional(),
    strategy_tree: tree.optional(),
    tie_break: tree.optional(),
    shadow: z.union([shadow, z.array(shadow).max(3)]).optional(),
    enrichments: enrichmentsField(compiler).optional(),
    eligibility_rule: expressionField(compiler, CANDIDATE_SCHEMA, 'bool').optional(),
    affinity: z
      .strictObject({
        key,
        ttl: duration(SECOND, 30 * DAY).optional(),
        on_ineligible: z.enum(['rebind', 'wait', 'fallback_keep']).optional(),
      })
      .optional(),
    dedupe: z.strictObject({ key: key.optional(), window: duration(SECOND, 90 * DAY) }).optional(),
  });
}

/** A checked configuration: exactly what was sent, durations in seconds. */
export type PoolConfig = z.output<ReturnType<typeof poolConfigSchema>>;

/** Fields that say how a pool chooses: at most one of them. */
interface StrategyFields {
  readonly strategy?: string | undefined;
  readonly recipe?: unknown;
  readonly strategy_tree?: unknown;
}

/** The problem text of two strategies in one object; the doors answer `strategy_conflict` for it. */
export const CONFLICT = 'conflicts with another strategy';

/** Refuses more than one way of choosing. */
export function checkOneStrategy(value: StrategyFields, context: z.core.$RefinementCtx): void {
  const set = [value.strategy, value.recipe, value.strategy_tree].filter((each) => each !== undefined && each !== '');
  if (set.length <= 1) return;
  refuse(context, CONFLICT, 'Give at most one of strategy, config.recipe and config.strategy_tree.', ['strategy']);
}
