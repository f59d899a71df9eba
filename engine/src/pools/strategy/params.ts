/** Parameters of each strategy: what they may hold, with the defaults that stand in the catalogue of docs. */
import { z } from 'zod';
import type { CelCompiler } from '../../expressions/index.js';
import { CANDIDATE_SCHEMA, ROUTABLE_SCHEMA } from '../cel-schemas.js';
import { expressionField } from '../fields/expression-field.js';
import { count, duration, patternText, refuse, text } from '../fields/primitives.js';
import { wavesField } from '../fields/waves-field.js';
import { zoneField } from '../schedule/schedule.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How often the work was tried before, where it says so itself. */
const RETRY_ATTEMPT = 'has(routable.attributes.retry_attempt) ? double(routable.attributes.retry_attempt) : 0.0';

const none = z.strictObject({});
const bps = count(0, 10_000);

const skill = z.strictObject({
  name: text(64, 1),
  min_level: count(1, 5).default(1),
  weight: count(0, 1000).default(1),
});

const skillsMatch = z.strictObject({
  required: z.array(skill).max(32).default([]),
  preferred: z.array(skill).max(32).default([]),
  rings: z
    .array(
      z.strictObject({
        after: duration(0, 7 * DAY),
        drop: z.array(text(64, 1)).max(32).default([]),
        min_total: count(0, 1_000_000).default(0),
      }),
    )
    .max(6)
    .default([]),
});

/** Parameters that hold no expressions. */
const PLAIN = {
  round_robin: none,
  weighted_round_robin: z.strictObject({ max_block: count(1, 10_000).default(100) }),
  smooth_weighted_round_robin: none,
  random: none,
  weighted_random: none,
  least_loaded: z.strictObject({ mode: z.enum(['ratio', 'spare', 'absolute']).default('ratio') }),
  least_request: z.strictObject({ bias: z.literal([0, 0.5, 1, 1.5, 2]).default(1) }),
  least_recently_assigned: z.strictObject({ clock: z.enum(['assigned', 'idle', 'inbound']).default('assigned') }),
  power_of_two_choices: z.strictObject({ d: count(2, 8).default(2) }),
  priority: z.strictObject({
    spill: z.enum(['empty', 'unhealthy_fraction']).default('empty'),
    overprovision_pct: count(100, 1000).default(140),
  }),
  waterfall: z.strictObject({ max_hops: count(1, 50).default(10) }),
  skills_match: skillsMatch,
  lowest_cost: z.strictObject({
    tolerance_bps: bps.default(0),
    variant: z.enum(['lowest', 'inverse_square']).default('lowest'),
  }),
  latency_ewma: z.strictObject({
    pick: z.enum(['p2c', 'min']).default('p2c'),
    half_life: duration(100, DAY).default('10s'),
    default_latency: duration(1, HOUR).default('1s'),
    buffer_bps: bps.default(0),
  }),
  success_rate_thompson: z.strictObject({
    half_life: duration(SECOND, 365 * DAY).default('86400s'),
    min_explore_bps: bps.default(0),
  }),
  success_rate_ucb1: z.strictObject({ half_life: duration(SECOND, 365 * DAY).default('86400s') }),
  fair_share: z.strictObject({
    window: z.enum(['day', 'week', 'month', 'forever']).default('month'),
    timezone: zoneField.default('UTC'),
  }),
  sla_deadline: z.strictObject({
    grain: duration(1, HOUR).default('1s'),
    min_headroom: duration(0, 7 * DAY).default('0s'),
    within: duration(SECOND, 30 * DAY).optional(),
    when_none: z.enum(['rank', 'empty']).default('rank'),
  }),
  custom: z.strictObject({
    name: patternText(/^[A-Za-z][A-Za-z0-9._-]{0,63}$/, 'the name of a strategy in code', 'nearest-agent'),
    version: text(64).default(''),
    timeout: duration(10, 5 * SECOND).default('0.5s'),
  }),
  top_k: z.strictObject({
    k: count(1, 100),
    diversity: patternText(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, 'the name of an attribute', 'region').optional(),
    require: z.enum(['exact', 'up_to']).default('up_to'),
  }),
  chain: none,
  tie: none,
  weighted_sum: z.strictObject({ weights_bps: z.array(bps).min(1).max(8) }),
  exclude_previous: z.strictObject({ count: count(1, 50).default(3) }),
  slow_start: z.strictObject({ window: duration(SECOND, DAY), min_pct: count(10, 100).default(10) }),
  shark_tank: z.strictObject({ waves: wavesField.optional(), claim_ttl: duration(SECOND, 30 * DAY).optional() }),
} as const;

/** The schema of every strategy's parameters, with expressions checked by a compiler. */
function schemasOf(compiler: CelCompiler) {
  const condition = expressionField(compiler, CANDIDATE_SCHEMA, 'bool');
  const key = expressionField(compiler, ROUTABLE_SCHEMA, 'string');
  return {
    ...PLAIN,
    sticky: z.strictObject({
      key,
      ttl: duration(SECOND, 30 * DAY).default('3600s'),
      on_ineligible: z.enum(['rebind', 'wait', 'fallback_keep']).default('rebind'),
    }),
    consistent_hash: z.strictObject({
      hash_key: key,
      salt: text(64).default(''),
      bounded_load_pct: count(1, 1000).optional(),
    }),
    score: z.strictObject({
      expr: expressionField(compiler, CANDIDATE_SCHEMA, 'double'),
      direction: z.enum(['max', 'min']).default('max'),
      min_score: z.number().min(-1e9).max(1e9).optional(),
      on_error: z.enum(['exclude', 'fail']).default('exclude'),
    }),
    seat_affinity: z.strictObject({
      key: key.optional(),
      ttl: duration(SECOND, 30 * DAY).default('86400s'),
      recovery: z.enum(['probe', 'at_once']).default('probe'),
      probe_timeout: duration(SECOND, DAY).default('60s'),
      max_cooldown: duration(SECOND, 30 * DAY).default('86400s'),
    }),
    escalate_on_retry: z.strictObject({
      key: key.optional(),
      ttl: duration(SECOND, 30 * DAY).default('86400s'),
      attempt: expressionField(compiler, ROUTABLE_SCHEMA, 'double').default(RETRY_ATTEMPT),
      start: count(0, 99).default(0),
      step: count(1, 99).default(1),
      min_success_rate: z.number().min(0).max(1).default(0),
      min_samples: count(1, 1_000_000).default(5),
    }),
    prefer: z.strictObject({ when: condition }),
    restrict: z.strictObject({ when: condition }),
    split: z
      .strictObject({ bps: z.array(bps).min(2).max(8), key: key.optional(), salt: text(64).default('') })
      .superRefine((value, context) => {
        const sum = value.bps.reduce((total, each) => total + each, 0);
        if (sum !== 10_000) refuse(context, `shares sum to ${sum}`, 'Make the shares sum to 10000.', ['bps']);
      }),
  } as const;
}

/** Schemas by name of the strategy. */
export type ParamSchemas = ReturnType<typeof schemasOf>;

/** Parameters of one strategy, defaults filled in; durations are texts in seconds. */
export type ParamsOf<Name extends keyof ParamSchemas> = z.output<ParamSchemas[Name]>;

const known = new WeakMap<CelCompiler, ParamSchemas>();

/** The schemas for a compiler; made once for each. */
export function paramSchemas(compiler: CelCompiler): ParamSchemas {
  const made = known.get(compiler) ?? schemasOf(compiler);
  known.set(compiler, made);
  return made;
}
