/** A pool made ready for decisions: compiled once when it changes, read by every decision until then. */
import type { CelCompiler, CelExpression } from '../../expressions/index.js';
import { canonicalJson, parseTimestampUs } from '../../kernel/index.js';
import {
  CANDIDATE_SCHEMA,
  compileOpening,
  milliOf,
  msOf,
  ROUTABLE_SCHEMA,
  strategyOf,
  type Attribute,
  type PoolConfig,
  type PoolFields,
  type RecipientFields,
  type StrategyName,
  type StrategyNode,
} from '../../pools/index.js';
import type { RecipientFacts } from '../core/candidate.js';
import { wordsOf, type Words } from '../core/hash.js';
import { isStateful, nodesOf, shadowsOf, type Shadow } from '../shadow/shadow.js';
import { compileStrategy, type CompiledStrategy } from '../strategies/compile-strategy.js';
import type { Strategy } from '../strategies/strategy.js';
import { digestText } from './digest-text.js';
import { enrichersOf, type Enricher } from './enrich.js';
import type { Hours } from './hours.js';
import { settingsOf, type PoolSettings } from './settings.js';
import { skillsOf } from './skills.js';

/** A recipient of a pool, as far as it does not change with each decision. */
export interface Member {
  readonly id: string;
  readonly version: number;
  readonly words: Words;
  readonly isActive: boolean;
  /** `RECIPIENT_STATE_AVAILABLE` and so on; another one counts until stateUntilUs. */
  readonly state: string;
  readonly stateUntilUs: number | undefined;
  readonly weightMilli: number;
  readonly tier: number;
  readonly order: number;
  readonly costMicros: bigint | undefined;
  /** Units; 0: unlimited. */
  readonly maxConcurrent: number;
  readonly dailyLimit: number;
  /** Units of one job, by channel; `default` for the others. */
  readonly unitCosts: ReadonlyMap<string, number>;
  readonly hours: Hours;
  readonly skills: ReadonlyMap<string, number>;
  /** As expressions see it. */
  readonly scope: Readonly<Record<string, unknown>> & { readonly attributes: Readonly<Record<string, unknown>> };
}

/** What can be said of a pool without its recipients: it is kept under its digest, and decisions name that. */
export interface PoolDocument {
  readonly fields: PoolFields;
  readonly isKilled: boolean;
}

/** A pool made ready. */
export interface PoolView {
  readonly id: string;
  readonly version: number;
  readonly document: PoolDocument;
  /** Names the document: 22 characters. */
  readonly digest: string;
  readonly settings: PoolSettings;
  readonly hours: Hours;
  /** What is worked out of the work before its members are looked at. */
  readonly enrichers: readonly Enricher[];
  readonly eligibility: CelExpression | undefined;
  readonly compiled: CompiledStrategy;
  readonly tieBreak: Strategy | undefined;
  /** In order of their ids. */
  readonly members: readonly Member[];
  /** Recipients that it falls back to and that do not belong to it: strategies never see them. */
  readonly standbys: readonly Member[];
  readonly tiers: ReadonlyMap<string, number>;
  /** What its expressions read, so that a record keeps that and no more. */
  readonly reads: PoolReads;
  /** Whether a choice depends on earlier ones: its state is locked before each. */
  readonly isStateful: boolean;
  /** Other strategies that its decisions are compared with. */
  readonly shadows: readonly Shadow[];
  /** How work that comes twice is told; undefined: it is not. */
  readonly dedupe: { readonly key: CelExpression | undefined; readonly windowUs: number } | undefined;
}

/** What a pool's expressions and strategies read of candidates and routables. */
export interface PoolReads {
  readonly expressions: readonly CelExpression[];
  readonly usesLoad: boolean;
  readonly usesStats: boolean;
  readonly skills: readonly string[];
  readonly attributes: readonly string[];
  /** Facts that anything here depends on. */
  readonly facts: ReadonlySet<keyof RecipientFacts>;
}

/** A recipient as it is stored. */
export interface StoredRecipient {
  readonly id: string;
  readonly version: number;
  readonly fields: RecipientFields;
}

function attributeValue(attribute: Attribute): unknown {
  if (attribute.int_value !== undefined) return BigInt(attribute.int_value);
  return attribute.string_value ?? attribute.number_value ?? attribute.bool_value ?? attribute.string_list;
}

function scopeOf(id: string, fields: RecipientFields): Member['scope'] {
  const attributes = Object.entries(fields.attributes).map(([name, value]) => [name, attributeValue(value)] as const);
  return {
    id,
    name: fields.name,
    external_id: fields.external_id,
    type: fields.type,
    tags: fields.tags,
    attributes: Object.fromEntries(attributes),
    weight: fields.weight,
    tier: fields.tier,
    order: fields.order,
    timezone: fields.timezone,
    max_concurrent: fields.capacity.max_concurrent,
  };
}

/** A recipient as a member of a pool: what its membership says goes before what it says of itself. */
function memberOf({ id, version, fields }: StoredRecipient, poolId: string): Member {
  const membership = fields.memberships.find(({ pool_id }) => pool_id === poolId);
  const cost = membership?.cost_micros ?? fields.cost_micros;
  return {
    id,
    version,
    words: wordsOf(id),
    isActive: fields.status === 'STATUS_ACTIVE',
    state: fields.state,
    stateUntilUs: parseTimestampUs(fields.state_until ?? ''),
    weightMilli: milliOf(membership?.weight ?? fields.weight),
    tier: membership?.tier ?? fields.tier,
    order: membership?.order ?? fields.order,
    costMicros: cost === undefined ? undefined : BigInt(cost),
    maxConcurrent: fields.capacity.max_concurrent,
    dailyLimit: fields.capacity.daily_limit,
    unitCosts: new Map(Object.entries(fields.capacity.unit_costs)),
    hours: compileOpening(fields.schedule, fields.timezone),
    skills: skillsOf(fields),
    scope: scopeOf(id, fields),
  };
}

/** Facts that every decision depends on: by Filter, and by the order among equals. */
const FACTS: readonly (keyof RecipientFacts)[] = [
  'held',
  'committed',
  'admittedToday',
  'committedToday',
  'lastAssignedUs',
  'cooldownUntilUs',
  'isEjected',
];
const LATENCY = ['latencyUs', 'latencyAtUs'] as const;
const RATES = ['successMilli', 'failureMilli', 'ratedAtUs'] as const;

/** Facts that strategies depend on besides. */
const FACTS_OF: Partial<Record<StrategyName, readonly (keyof RecipientFacts)[]>> = {
  least_recently_assigned: ['lastReleasedUs', 'lastInboundUs'],
  smooth_weighted_round_robin: ['inRotationSinceUs'],
  slow_start: ['inRotationSinceUs'],
  latency_ewma: [...LATENCY, 'inRotationSinceUs'],
  sla_deadline: [...LATENCY, 'responses'],
  success_rate_thompson: RATES,
  success_rate_ucb1: RATES,
  seat_affinity: ['limitEpisode', 'probeUntilUs'],
};

/** Skills that a strategy reads by itself, without an expression. */
function skillsRead(node: StrategyNode): readonly string[] {
  if (node.strategy !== 'skills_match') return [];
  return [...node.params.required, ...node.params.preferred].map(({ name }) => name);
}

/** Whether a fallback of the pool asks if everybody would be late. */
function predictsBreach({ fallbacks }: PoolSettings): boolean {
  return fallbacks.some(({ on }) => on?.includes('sla_breach_predicted') === true);
}

function readsOf(
  expressions: readonly CelExpression[],
  nodes: readonly StrategyNode[],
  { isSlow, hasDeadline }: { readonly isSlow: boolean; readonly hasDeadline: boolean },
): PoolReads {
  const uses = (name: string): boolean =>
    expressions.some(({ references }) => references.some(([first]) => first === name));
  const facts = new Set<keyof RecipientFacts>([...FACTS, ...nodes.flatMap(({ strategy }) => FACTS_OF[strategy] ?? [])]);
  if (isSlow) facts.add('inRotationSinceUs');
  if (hasDeadline) for (const each of [...LATENCY, 'responses'] as const) facts.add(each);
  if (uses('stats')) for (const each of [...LATENCY, ...RATES]) facts.add(each);
  return {
    expressions,
    usesLoad: uses('load'),
    usesStats: uses('stats'),
    skills: nodes.flatMap(skillsRead),
    attributes: nodes.flatMap((each) => (each.strategy === 'top_k' ? (each.params.diversity ?? []) : [])),
    facts,
  };
}

function dedupeOf({ dedupe }: PoolConfig, compiler: CelCompiler): PoolView['dedupe'] {
  if (dedupe === undefined) return undefined;
  const key = dedupe.key === undefined ? undefined : compiler.compile(dedupe.key, ROUTABLE_SCHEMA, 'string');
  return { key, windowUs: msOf(dedupe.window) * 1000 };
}

function placed(members: readonly Member[]): Pick<PoolView, 'members' | 'tiers'> {
  return {
    members: members.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    tiers: new Map(members.map(({ id, tier }) => [id, tier])),
  };
}

/** The same pool with other members: nothing is compiled anew. */
export function withMembers(view: PoolView, members: readonly Member[], standbys: readonly Member[]): PoolView {
  return { ...view, ...placed(members), standbys };
}

/** Makes a pool ready, given its members. */
export function poolView(
  pool: { readonly id: string; readonly version: number; readonly document: PoolDocument },
  members: readonly Member[],
  compiler: CelCompiler,
  standbys: readonly Member[] = [],
): PoolView {
  const { fields } = pool.document;
  const { config } = fields;
  const node = strategyOf(compiler, { strategy: fields.strategy, ...config });
  const compiled = compileStrategy(node, compiler);
  const tie = config.tie_break === undefined ? undefined : strategyOf(compiler, { strategy_tree: config.tie_break });
  const tieBreak = tie === undefined ? undefined : compileStrategy(tie, compiler);
  const rule = config.eligibility_rule;
  const eligibility = rule === undefined ? undefined : compiler.compile(rule, CANDIDATE_SCHEMA, 'bool');
  const enrichers = enrichersOf(config, compiler);
  const shadows = shadowsOf(config, compiler);
  const expressions = [
    ...compiled.expressions,
    ...shadows.flatMap((shadow) => shadow.compiled.expressions),
    ...(tieBreak?.expressions ?? []),
    ...(eligibility === undefined ? [] : [eligibility]),
    ...enrichers.flatMap(({ expression }) => expression ?? []),
  ];
  const settings = settingsOf(config, node.strategy === 'shark_tank' ? node.params : undefined);
  return {
    id: pool.id,
    version: pool.version,
    document: pool.document,
    digest: digestText(canonicalJson(pool.document)),
    settings,
    hours: compileOpening(config.schedule, 'UTC'),
    enrichers,
    eligibility,
    compiled: { ...compiled, customs: [...compiled.customs, ...(tieBreak?.customs ?? [])] },
    tieBreak: tieBreak?.strategy,
    ...placed(members),
    standbys,
    reads: readsOf(
      expressions,
      [node, ...(tie === undefined ? [] : [tie]), ...shadows.map((shadow) => shadow.node)].flatMap(nodesOf),
      {
        isSlow: settings.slowStart !== undefined,
        hasDeadline: predictsBreach(settings) || (shadows.length > 0 && config.sla !== undefined),
      },
    ),
    isStateful: isStateful(node),
    shadows,
    dedupe: dedupeOf(config, compiler),
  };
}

/**
 * Makes a stored pool and its recipients ready.
 *
 * @param standbys recipients that it falls back to and that do not belong to it
 */
export function compilePool(
  pool: { readonly id: string; readonly version: number; readonly document: PoolDocument },
  recipients: readonly StoredRecipient[],
  compiler: CelCompiler,
  standbys: readonly StoredRecipient[] = [],
): PoolView {
  const ready = (all: readonly StoredRecipient[]): readonly Member[] => all.map((each) => memberOf(each, pool.id));
  return poolView(pool, ready(recipients), compiler, ready(standbys));
}
