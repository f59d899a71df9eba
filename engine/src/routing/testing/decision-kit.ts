/** Pools, recipients, rules and random worlds for tests of decisions. */
import { createCelCompiler, type CelCompiler } from '../../expressions/index.js';
import { seededRandom, type Random } from '../../kernel/index.js';
import { poolCheck, RECIPIENT_STATES, recipientCheck } from '../../pools/index.js';
import { NO_ANSWERS, type Answers } from '../core/answer.js';
import type { Binding, PoolState, RecipientFacts } from '../core/candidate.js';
import { checkRoutable } from '../core/routable.js';
import { deriveSeed } from '../core/stream.js';
import { admissionOf, type Admit, type Usage } from '../pipeline/admission.js';
import type { DecisionInput, PoolSnapshot } from '../pipeline/decision.js';
import { compilePool, type StoredRecipient } from '../pipeline/view.js';
import { compileRules, ruleCheck, type CompiledRule } from '../rules/rule.js';
import { idOf, NOW_US } from './strategy-kit.js';

/** One compiler for all worlds. */
export const compiler: CelCompiler = createCelCompiler();

const pools = poolCheck(compiler);
const rules = ruleCheck(compiler);

/** Key that the seeds of tests come from. */
export const SEED_KEY = new Uint8Array(32).fill(7);

/** A recipient as a user creates it, available unless it says otherwise. */
export function recipientOf(number: number, fields: object = {}): StoredRecipient {
  const input = { name: `r${number}`, state: 'RECIPIENT_STATE_AVAILABLE', ...fields };
  return { id: idOf(number), version: 1, fields: recipientCheck.create(input) };
}

/** A pool as a user creates it, at the moment of a decision. */
export function snapshotOf(
  number: number,
  fields: object,
  recipients: readonly StoredRecipient[],
  now: {
    readonly facts?: Readonly<Record<number, Partial<RecipientFacts>>>;
    readonly state?: PoolState;
    readonly bindings?: ReadonlyMap<string, Binding>;
    readonly isKilled?: boolean;
    readonly answers?: Answers;
    readonly standbys?: readonly StoredRecipient[];
    readonly queued?: number;
  } = {},
): PoolSnapshot {
  const document = { fields: pools.create({ name: `p${number}`, ...fields }), isKilled: now.isKilled ?? false };
  const none = { held: 0, committed: 0, admittedToday: 0, committedToday: 0 };
  const facts = Object.entries(now.facts ?? {}).map(([id, each]): [string, RecipientFacts] => {
    return [idOf(Number(id)), { ...none, ...each }];
  });
  return {
    view: compilePool({ id: idOf(number), version: 3, document }, recipients, compiler, now.standbys),
    facts: new Map(facts),
    state: now.state ?? {},
    bindings: now.bindings ?? new Map(),
    answers: now.answers ?? NO_ANSWERS,
    ...(now.queued !== undefined && { queued: now.queued }),
  };
}

/** Rules as a user creates them, compiled and in order. */
export function rulesOf(...list: readonly object[]): readonly CompiledRule[] {
  const stored = list.map((fields, index) => ({
    id: idOf(9000 + index),
    version: 1,
    fields: rules.create({ name: `rule-${index}`, ...fields }),
  }));
  return compileRules(stored, compiler);
}

/** A decision about a plain lead in the first of some pools. */
export function inputOf(
  snapshots: readonly PoolSnapshot[],
  fields: Partial<DecisionInput> & { readonly work?: object } = {},
): DecisionInput {
  const { work, ...rest } = fields;
  const decisionId = rest.decisionId ?? idOf(77_777);
  return {
    decisionId,
    nowUs: NOW_US,
    routable: checkRoutable({ id: 'lead-7', type: 'lead', ...work }),
    poolId: snapshots[0]?.view.id,
    rules: [],
    pools: new Map(snapshots.map((each) => [each.view.id, each])),
    seedOf: (poolId, hop, attempt) => deriveSeed(SEED_KEY, { decisionId, poolId, hop, attempt }),
    admit: admitting(snapshots),
    ...rest,
  };
}

/** Admission on what the snapshots say is in use, and what more there is. */
export function admitting(snapshots: readonly PoolSnapshot[], extra: Readonly<Record<string, number>> = {}): Admit {
  return (poolId, slate) => {
    const snapshot = snapshots.find(({ view }) => view.id === poolId);
    return admissionOf(
      slate.map(({ id, units }): Usage => {
        const facts = snapshot?.facts.get(id);
        const member = [...(snapshot?.view.members ?? []), ...(snapshot?.view.standbys ?? [])].find(
          (each) => each.id === id,
        );
        return {
          id,
          units,
          used: (facts?.held ?? 0) + (facts?.committed ?? 0) + (extra[id] ?? 0),
          limit: member?.maxConcurrent ?? 0,
          usedToday: (facts?.admittedToday ?? 0) + (facts?.committedToday ?? 0),
          dailyLimit: member?.dailyLimit ?? 0,
        };
      }),
    );
  };
}

/** Dice for worlds. */
interface Dice {
  readonly below: (n: number) => number;
  readonly pick: <Item>(items: readonly [Item, ...Item[]]) => Item;
  readonly chance: (pct: number) => boolean;
}

function diceOf(random: Random): Dice {
  const below = (n: number): number => random.uint32() % n;
  return { below, pick: (items) => items[below(items.length)] ?? items[0], chance: (pct) => below(100) < pct };
}

/** Ways in which pools of the worlds choose. */
const CHOICES: readonly [object, ...object[]] = [
  {},
  { strategy: 'weighted_round_robin' },
  { strategy: 'smooth_weighted_round_robin', config: { slow_start: { window: '60s' } } },
  { strategy: 'random' },
  { strategy: 'weighted_random' },
  { strategy: 'least_loaded' },
  { strategy: 'least_request', config: { strategy_params: { bias: 1.5 } } },
  { strategy: 'least_recently_assigned', config: { strategy_params: { clock: 'idle' } } },
  { strategy: 'power_of_two_choices' },
  { strategy: 'waterfall' },
  { strategy: 'consistent_hash', config: { strategy_params: { hash_key: 'routable.id', bounded_load_pct: 50 } } },
  {
    strategy: 'score',
    config: {
      strategy_params: { expr: 'recipient.attributes.level * 2.0 + routable.attributes.amount / 1000.0 - load.used' },
    },
  },
  {
    strategy: 'skills_match',
    config: { strategy_params: { preferred: [{ name: 'solar' }], rings: [{ after: '1s' }] } },
  },
  { strategy: 'lowest_cost', config: { strategy_params: { variant: 'inverse_square' } } },
  { strategy: 'latency_ewma' },
  { strategy: 'success_rate_thompson' },
  { strategy: 'success_rate_ucb1' },
  { strategy: 'fair_share' },
  { strategy: 'sla_deadline', config: { sla: { first_response_within: '5m' } } },
  { strategy: 'priority', config: { strategy_params: { spill: 'unhealthy_fraction' } } },
  { strategy: 'sticky', config: { strategy_params: { key: 'routable.attributes.account' } } },
  { strategy: 'custom', config: { strategy_params: { name: 'mine' } } },
  { strategy: 'top_k', config: { strategy_params: { k: 2, diversity: 'region' } } },
  { config: { recipe: { name: 'seat_pool', params: { key: 'routable.attributes.account' } } } },
  { config: { recipe: { name: 'model_ladder', params: { min_success_rate: 0.5, min_samples: 2 } } } },
  { config: { recipe: { name: 'sla_rescue', params: { within: '60s' } } } },
  { config: { recipe: { name: 'fair_rotation' } } },
  { config: { recipe: { name: 'cheapest_healthy', params: { min_success: 0.4 } } } },
  { config: { recipe: { name: 'best_skill_relax' } } },
  { config: { recipe: { name: 'lead_pond' }, claim_queue_id: idOf(600) } },
  { config: { recipe: { name: 'speed_to_lead' }, claim_queue_id: idOf(600) } },
  { config: { recipe: { name: 'canary', params: { share_bps: 4000, strategies: ['random', 'fair_share'] } } } },
  {
    config: {
      tie_break: { strategy: 'score', params: { expr: 'recipient.weight' } },
      strategy_tree: { strategy: 'prefer', params: { when: '"solar" in recipient.tags' }, of: ['least_loaded'] },
    },
  },
];

const FALLBACKS: readonly [object, ...object[]] = [
  {},
  { fallback: { kind: 'queue' } },
  { fallback: { kind: 'retry', delay: '30s' } },
  { fallback: { kind: 'overflow' }, overflow_pool_id: idOf(501) },
  {
    fallback: [{ kind: 'catchall', on: ['recipient_capacity_exhausted'] }, { kind: 'dead_letter' }],
    catchall_pool_id: idOf(502),
  },
  { fallback: { kind: 'default_recipient' }, fallback_recipient_id: idOf(2) },
  { fallback: { kind: 'claim' }, claim_queue_id: idOf(601) },
  { fallback: [{ kind: 'claim', on: ['claim_expired', 'pool_closed'], target: idOf(602) }, { kind: 'dead_letter' }] },
  { fallback: { kind: 'overflow', on_outage: true }, overflow_pool_id: idOf(500), max_routing_depth: 2 },
];

const BEHAVIOURS: readonly [object, ...object[]] = [
  {},
  {},
  { eligibility_rule: 'recipient.attributes.level >= 1 && stats.success_rate >= 0.0' },
  { slate_size: 2 },
  {
    enrichments: [
      { name: 'tier', kind: 'expr', expr: 'routable.attributes.amount > 500.0 ? "big" : "small"' },
      { name: 'seniority', kind: 'lookup', key: 'enrichments.tier', table: { big: { least: 1.5 } } },
      { name: 'broken', kind: 'expr', expr: 'routable.attributes.nothing_of_that_name' },
    ],
    eligibility_rule: '!("seniority" in enrichments) || recipient.attributes.level >= enrichments.seniority.least',
  },
  { capacity_headroom_pct: 20, headroom_priority: 5 },
  { schedule: { weekly: [{ days: ['sat'], open: '00:00', close: '24:00' }] } },
  { schedule: { weekly: [{ days: ['mon'], open: '09:00', close: '17:00' }] } },
  { routing_mode: 'claim', claim_queue_id: idOf(600) },
  { routing_mode: 'claim', claim_queue_id: idOf(600), claim: { waves: [{ size: 2 }, { after: '60s' }] } },
  { requires_acceptance: true },
];

function randomRecipient(number: number, dice: Dice): StoredRecipient {
  return recipientOf(number, {
    state: dice.chance(85) ? RECIPIENT_STATES[0] : dice.pick(RECIPIENT_STATES),
    status: dice.chance(97) ? 'STATUS_ACTIVE' : 'STATUS_INACTIVE',
    weight: dice.pick([1, 1, 2, 0.5, 0]),
    tier: dice.below(2),
    order: dice.below(3),
    capacity: {
      max_concurrent: dice.pick([0, 3, 5]),
      daily_limit: dice.pick([0, 0, 10]),
      unit_costs: { default: dice.pick([1, 2]) },
    },
    ...(dice.chance(80) ? { cost_micros: String(dice.below(3_000_000)), currency: 'EUR' } : {}),
    tags: dice.chance(50) ? ['solar'] : [],
    attributes: {
      level: dice.chance(50) ? { int_value: dice.below(5) } : { number_value: dice.below(5) / 2 },
      region: { string_value: dice.pick(['eu', 'us']) },
    },
    ...(dice.chance(10) ? { schedule: { weekly: [{ days: ['mon'], open: '09:00', close: '17:00' }] } } : {}),
  });
}

function randomFacts(dice: Dice): Partial<RecipientFacts> {
  return {
    held: dice.below(3),
    committed: dice.below(3),
    admittedToday: dice.below(6),
    ...(dice.chance(70) ? { lastAssignedUs: NOW_US - dice.below(1_000_000_000) } : {}),
    ...(dice.chance(50) ? { lastReleasedUs: NOW_US - dice.below(1_000_000_000) } : {}),
    ...(dice.chance(50) ? { inRotationSinceUs: NOW_US - dice.below(100_000_000) } : {}),
    ...(dice.chance(50) ? { latencyUs: dice.below(900_000), latencyAtUs: NOW_US - dice.below(20_000_000) } : {}),
    ...(dice.chance(50)
      ? { successMilli: dice.below(30_000), failureMilli: dice.below(30_000), ratedAtUs: NOW_US - dice.below(1e9) }
      : {}),
    ...(dice.chance(20)
      ? { responses: Array.from({ length: 32 }, (_, index) => (index < 16 ? dice.below(4) : 0)) }
      : {}),
    ...(dice.chance(15) ? { limitEpisode: 1 + dice.below(3) } : {}),
    ...(dice.chance(50) ? { probeUntilUs: NOW_US - 500_000 + dice.below(2_000_000) } : {}),
    ...(dice.chance(8) ? { cooldownUntilUs: NOW_US + 5_000_000, isEjected: dice.chance(50) } : {}),
  };
}

function randomAnswers(dice: Dice): Answers {
  const ids = dice.chance(70) ? [idOf(2), idOf(1)] : undefined;
  return dice.chance(50) ? new Map([['mine', { ids, note: 'by a worker' }]]) : NO_ANSWERS;
}

/** Outcomes as reports count them. */
function counted(dice: Dice, count: number): PoolState {
  if (dice.chance(50)) return {};
  const of = (most: number): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [idOf(index + 1), dice.below(most)]));
  return { samples: { of: of(6) }, successes: { of: of(4) } };
}

/** A random pool: its number is its id. */
function randomSnapshot(number: number, dice: Dice): PoolSnapshot {
  const count = 1 + dice.below(8);
  const choice = dice.pick(CHOICES);
  const config: object = Reflect.get(choice, 'config') ?? {};
  const recipients = Array.from({ length: count }, (_, index) => randomRecipient(index + 1, dice));
  const facts = Object.fromEntries(recipients.map((_, index) => [index + 1, randomFacts(dice)]));
  const bound = (tier?: number): Binding => ({
    ...{ recipientId: idOf(1 + dice.below(count)), expiresUs: NOW_US + 1_000_000, ...(tier !== undefined && { tier }) },
  });
  const bindings = new Map([
    ['acme', { ...bound(), expiresUs: NOW_US + 1000 }],
    ['seat/acme', bound()],
    [`tier/${idOf(700)}`, bound(dice.below(3))],
  ]);
  return snapshotOf(
    number,
    {
      status: dice.chance(95) ? 'STATUS_ACTIVE' : 'STATUS_PAUSED',
      ...choice,
      config: { ...config, ...dice.pick(FALLBACKS), ...dice.pick(BEHAVIOURS) },
    },
    recipients,
    {
      facts,
      state: counted(dice, count),
      isKilled: dice.chance(3),
      answers: randomAnswers(dice),
      ...(dice.chance(40) ? { bindings } : {}),
      ...(dice.chance(50) ? { queued: dice.pick([0, 3, 10_000]) } : {}),
    },
  );
}

/** Rules of the worlds. */
const RULES = rulesOf(
  { priority: 0, expr: 'routable.attributes.amount > 95000.0', action: 'hold', pool_id: idOf(501) },
  { priority: 1, expr: 'routable.attributes.amount > 90000.0', action: 'hold' },
  { priority: 2, expr: 'routable.attributes.missing == 1', pool_id: idOf(500) },
  {
    priority: 3,
    expr: 'routable.type == "lead" && routable.attributes.amount < 50000.0',
    pool_id: idOf(500),
    stop: false,
  },
  { priority: 4, expr: 'routable.channel == "chat"', pool_id: idOf(501) },
  { priority: 9, expr: 'routable.attributes.amount < 85000.0', pool_id: idOf(502) },
);

/** Random pools, to be decided in many times. */
export function randomWorld(seed: number): readonly PoolSnapshot[] {
  const dice = diceOf(seededRandom(seed));
  return [500, 501, 502].map((number) => randomSnapshot(number, dice));
}

/** Work that has waited for minutes or longer than it may, and is in a queue or not. */
function randomWaited(dice: Dice): DecisionInput['waited'] {
  if (dice.chance(75)) return undefined;
  const since = { firstId: idOf(98), sinceUs: NOW_US - dice.pick([60_000_000, 90_000_000_000]) };
  return dice.chance(30) ? since : { ...since, queueOf: dice.pick(['', idOf(500), idOf(501)]) };
}

/** A random decision in a world. */
export function randomInput(world: readonly PoolSnapshot[], seed: number): DecisionInput {
  const dice = diceOf(seededRandom(seed * 31 + 7));
  const extra = Object.fromEntries([1, 2, 3, 4].map((number) => [idOf(number), dice.below(4)]));
  const admit: Admit = dice.chance(3) ? () => ({ kind: 'unavailable' }) : admitting(world, extra);
  return inputOf(world, {
    decisionId: idOf(100_000 + seed),
    nowUs: NOW_US + dice.below(1_000_000),
    poolId: dice.chance(50) ? idOf(500 + dice.below(3)) : undefined,
    rules: RULES,
    admit: dice.chance(20) ? undefined : admit,
    recipientId: dice.chance(4) ? idOf(1 + dice.below(4)) : undefined,
    offers: dice.chance(15) ? dice.below(7) : 0,
    family: dice.chance(40) ? idOf(700) : undefined,
    duplicateOf: dice.chance(2) ? idOf(99) : undefined,
    expiredIn: dice.chance(5) ? [idOf(600)] : [],
    previous: dice.chance(30) ? [idOf(1), idOf(3)] : [],
    pinned: dice.chance(20) ? new Map([[idOf(1), 2]]) : new Map(),
    excluded: dice.chance(10) ? new Set([idOf(2)]) : new Set(),
    work: {
      id: `work-${seed}`,
      type: dice.pick(['lead', 'ticket']),
      attributes: {
        amount: dice.below(100_000),
        account: dice.pick(['acme', 'globex']),
        retry_attempt: dice.below(3),
        unread: 'x'.repeat(40),
      },
      priority: dice.below(10),
      channel: dice.pick(['', 'chat']),
      required_skills: dice.chance(20) ? ['solar'] : [],
      ...(dice.chance(2) ? { expires_at: '2026-01-01T00:00:00Z' } : {}),
      ...(dice.chance(50) ? { received_at: '2026-07-11T10:44:30Z' } : {}),
    },
    waited: randomWaited(dice),
  });
}

/** Every world and decision of a number, the same ones each time. */
export function* randomDecisions(worlds: number, each: number): Generator<DecisionInput> {
  for (let world = 0; world < worlds; world += 1) {
    const snapshots = randomWorld(world + 1);
    for (let number = 0; number < each; number += 1) yield randomInput(snapshots, world * each + number);
  }
}
