/**
 * Pools: created and updated as users write them. What is stored is what was sent, in one form; defaults are added when
 * it is used.
 */
import { z } from 'zod';
import type { CelCompiler } from '../../expressions/index.js';
import { metadataField, patternText, refuse, text } from '../fields/primitives.js';
import { STRATEGY_NAMES } from '../strategy/names.js';
import { rootOf } from '../strategy/strategy-of.js';
import { readShorthand } from '../strategy/tree.js';
import { check, checkUpdate, type ObjectCheck } from './check.js';
import type { Fallback } from './fallback.js';
import { checkOneStrategy, poolConfigSchema } from './pool-config.js';

/** The schema of what a user may write of a pool. */
function poolSchema(compiler: CelCompiler) {
  return z
    .strictObject({
      name: patternText(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
        'a name of 1 to 128 letters, digits, ".", "_", "-", a letter or digit first',
        'billing-agents',
      ),
      description: text(2048).default(''),
      status: z.enum(['STATUS_ACTIVE', 'STATUS_PAUSED', 'STATUS_DISABLED', 'STATUS_ARCHIVED']).default('STATUS_ACTIVE'),
      strategy: z.enum(['', ...STRATEGY_NAMES]).default(''),
      config: poolConfigSchema(compiler).default({}),
      metadata: metadataField.default({}),
    })
    .superRefine((value, context) => {
      const { config, strategy } = value;
      checkOneStrategy({ strategy, recipe: config.recipe, strategy_tree: config.strategy_tree }, context);
      if (strategy !== '') {
        readShorthand(compiler, strategy, config.strategy_params, context, ['config', 'strategy_params']);
      } else if (config.strategy_params !== undefined) {
        refuse(context, 'belongs to no strategy', 'Set strategy, or remove it.', ['config', 'strategy_params']);
      }
      checkTargets(config, context);
      checkClaims(value, context);
      checkBreach(config, context);
      checkBoost(config, context);
    });
}

/** What a user may write of a pool; `strategy` is empty when a recipe or tree says how it chooses, or nothing does. */
export type PoolFields = z.output<ReturnType<typeof poolSchema>>;

/** Which field names the target of a fallback of this kind, when the fallback itself names none. */
const TARGET_FIELDS: Partial<Record<Fallback['kind'], keyof PoolFields['config']>> = {
  overflow: 'overflow_pool_id',
  catchall: 'catchall_pool_id',
  default_recipient: 'fallback_recipient_id',
  claim: 'claim_queue_id',
  next_open: 'schedule',
};

/** The fallbacks of a configuration as a list. */
export function fallbacksOf(config: PoolFields['config']): readonly Fallback[] {
  const { fallback } = config;
  if (fallback === undefined) return [];
  return Array.isArray(fallback) ? fallback : [fallback];
}

/** Ids of the recipients that a pool falls back to: they need not be its members. */
export function standbysOf(config: PoolFields['config']): readonly string[] {
  const ids = fallbacksOf(config).flatMap(({ kind, target }) => {
    const id = kind === 'default_recipient' ? (target ?? config.fallback_recipient_id) : undefined;
    return id === undefined ? [] : [id];
  });
  return [...new Set(ids)];
}

function checkTargets(config: PoolFields['config'], context: z.core.$RefinementCtx): void {
  for (const { kind, target } of fallbacksOf(config)) {
    const field = TARGET_FIELDS[kind];
    if (field === undefined || config[field] !== undefined || (target !== undefined && kind !== 'next_open')) continue;
    refuse(context, `is missing: the fallback ${kind} needs it`, 'Add it, or choose another fallback.', [
      'config',
      field,
    ]);
  }
}

/** A breach that falls back needs a fallback that answers to it. */
function checkBreach({ sla, ...config }: PoolFields['config'], context: z.core.$RefinementCtx): void {
  if (sla?.on_breach?.includes('fallback') !== true) return;
  const answers = ({ kind, on }: Fallback): boolean =>
    kind !== 'none' && (on === undefined || on.includes('sla_breach_predicted'));
  if (fallbacksOf(config).some(answers)) return;
  const remedy = 'Add a config.fallback without "on", or with "sla_breach_predicted" in it.';
  refuse(context, 'falls back to nothing', remedy, ['config', 'sla', 'on_breach']);
}

/** What raises waiting work needs an order that goes by it. */
function checkBoost({ sla, queue }: PoolFields['config'], context: z.core.$RefinementCtx): void {
  const { priority_boost_per_min: boost = 0 } = sla ?? {};
  const { order = 'priority_age' } = queue ?? {};
  if (boost === 0 || order === 'priority_age') return;
  const remedy = 'Let config.queue.order be "priority_age", or leave it out.';
  refuse(context, `raises nothing in a queue whose order is ${order}`, remedy, [
    ...['config', 'sla', 'priority_boost_per_min'],
  ]);
}

/** What goes together in pools whose work is claimed. */
function checkClaims({ strategy, config }: PoolFields, context: z.core.$RefinementCtx): void {
  const isSharkTank = rootOf({ ...config, strategy }) === 'shark_tank';
  const needs = isSharkTank ? 'shark_tank' : 'routing_mode claim';
  if ((isSharkTank || config.routing_mode === 'claim') && config.claim_queue_id === undefined) {
    refuse(context, `is missing: ${needs} needs it`, 'Name the claim queue.', ['config', 'claim_queue_id']);
  }
  if (isSharkTank && config.routing_mode === 'auto') {
    const remedy = 'Leave it out, or choose another strategy: shark_tank lets recipients claim.';
    refuse(context, 'is at odds with the strategy shark_tank', remedy, ['config', 'routing_mode']);
  }
}

/** Ids of the claim queues that a configuration names. */
export function queuesOf(config: PoolFields['config']): readonly string[] {
  const targets = fallbacksOf(config).map(({ kind, target }) => (kind === 'claim' ? target : undefined));
  return [...new Set([config.claim_queue_id, ...targets].filter((id) => id !== undefined))];
}

/** Checks of pools. */
export function poolCheck(compiler: CelCompiler): ObjectCheck<PoolFields> {
  const schema = poolSchema(compiler);
  const object = {
    noun: 'pool',
    schema,
    names: [...Object.keys(schema.shape), ...Object.keys(schema.shape.config.unwrap().shape)],
  };
  return {
    create: (input) => check(object, input),
    update: (current, patch) => checkUpdate(object, current, patch),
  };
}
