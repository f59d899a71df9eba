/** Candidates, contexts and compiled strategies for tests. */
import fc from 'fast-check';
import { createCelCompiler } from '../../expressions/index.js';
import { seededRandom } from '../../kernel/index.js';
import { strategyOf, type StrategyName } from '../../pools/index.js';
import type { Candidate, Context, PoolState, RecipientFacts } from '../core/candidate.js';
import { wordsOf } from '../core/hash.js';
import { routableScope, type Routable } from '../core/routable.js';
import { createStream, type Seed } from '../core/stream.js';
import { compileStrategy } from '../strategies/compile-strategy.js';
import { afterChanges, select, type Selection } from '../strategies/select.js';
import type { Strategy } from '../strategies/strategy.js';

/** The moment of every test: 2026-07-11T10:45:00Z. */
export const NOW_US = 1_783_766_700_000_000;

const NO_FACTS: RecipientFacts = { held: 0, committed: 0, admittedToday: 0, committedToday: 0 };

/** An id as recipients have them, for a number; ids are in order of their numbers. */
export function idOf(number: number): string {
  return `01890a5d-ac96-774b-bcce-${number.toString(16).padStart(12, '0')}`;
}

/** A candidate; what is not given is plain. */
export function candidateOf(
  number: number,
  fields: Partial<Omit<Candidate, 'facts'>> & { readonly facts?: Partial<RecipientFacts> } = {},
): Candidate {
  const id = fields.id ?? idOf(number);
  return {
    place: number,
    words: wordsOf(id),
    weightMilli: 1000,
    tier: 0,
    order: 0,
    costMicros: undefined,
    load: 0,
    cap: undefined,
    skills: new Map(),
    attributes: {},
    ...fields,
    id,
    facts: { ...NO_FACTS, ...fields.facts },
  };
}

/** So many plain candidates. */
export function candidatesOf(
  count: number,
  fieldsOf: (index: number) => Parameters<typeof candidateOf>[1] = () => ({}),
): Candidate[] {
  return Array.from({ length: count }, (_, index) => candidateOf(index + 1, fieldsOf(index)));
}

/** A routable; what is not given is plain. */
export function routableOf(fields: Partial<Routable> = {}): Routable {
  return {
    id: 'lead-7',
    type: 'lead',
    attributes: {},
    priority: 0,
    channel: '',
    requiredSkills: [],
    dedupeKey: '',
    expiresUs: undefined,
    receivedUs: undefined,
    ...fields,
  };
}

/** A seed for a number. */
export function seedFor(number: number): Seed {
  const dice = seededRandom(number);
  return [dice.uint32(), dice.uint32(), dice.uint32(), dice.uint32()];
}

/** The context of a choice among candidates. */
export function contextOf(
  candidates: readonly Candidate[],
  fields: Partial<Context> & { readonly dice?: number } = {},
): Context {
  const seed = fields.seed ?? seedFor(fields.dice ?? 1);
  const routable = fields.routable ?? routableOf();
  const nowUs = fields.nowUs ?? NOW_US;
  return {
    nowUs,
    poolId: idOf(0),
    seed,
    stream: createStream(seed),
    routable,
    family: undefined,
    dueUs: undefined,
    previous: [],
    members: new Map(candidates.map(({ id, tier }) => [id, tier])),
    state: {},
    bindings: new Map(),
    answers: new Map(),
    isCapped: candidates.every(({ cap }) => cap !== undefined),
    evaluate: (expression, candidate) =>
      expression.evaluate({
        routable: routableScope(routable, nowUs),
        now: new Date(nowUs / 1000),
        ...(candidate === undefined
          ? {}
          : { recipient: scopeOf(candidate), load: { used: candidate.load, limit: candidate.cap ?? -1 } }),
      }),
    ...fields,
  };
}

function scopeOf(candidate: Candidate): Readonly<Record<string, unknown>> {
  return {
    id: candidate.id,
    name: candidate.id,
    tags: [],
    attributes: candidate.attributes,
    weight: candidate.weightMilli / 1000,
    tier: candidate.tier,
    order: candidate.order,
  };
}

const compiler = createCelCompiler();

/** A strategy as a pool's `strategy` and `strategy_params` name it. */
export function strategyNamed(name: StrategyName, params: object = {}): Strategy {
  return compileStrategy(strategyOf(compiler, { strategy: name, strategy_params: params }), compiler).strategy;
}

/** A strategy as a pool's `strategy_tree` says it. */
export function strategyTree(tree: unknown): Strategy {
  return compileStrategy(strategyOf(compiler, { strategy_tree: tree }), compiler).strategy;
}

/** Chooses again and again with the state kept; `restart` sends the state through JSON before each choice. */
export function chooseMany(
  strategy: Strategy,
  candidates: readonly Candidate[],
  times: number,
  options: { readonly isRestarting?: boolean; readonly state?: PoolState; readonly dice?: number } = {},
): { readonly winners: readonly string[]; readonly state: PoolState; readonly last: Selection | undefined } {
  let state = options.state ?? {};
  let last: Selection | undefined;
  const winners: string[] = [];
  for (let time = 0; time < times; time += 1) {
    if (options.isRestarting === true) state = JSON.parse(JSON.stringify(state));
    const nowUs = NOW_US + time * 1000;
    last = select(strategy, candidates, contextOf(candidates, { state, nowUs, dice: (options.dice ?? 1) + time }));
    state = afterChanges(state, last.changes);
    winners.push(...last.slate.map(({ id }) => id));
  }
  return { winners, state, last };
}

/** How often each id occurs. */
export function countsOf(ids: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** Pearson's chi² of counts against expected shares. */
export function chiSquared(counts: readonly number[], shares: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const whole = shares.reduce((sum, share) => sum + share, 0);
  return counts.reduce((sum, count, index) => {
    const expected = (total * (shares[index] ?? 0)) / whole;
    return sum + (count - expected) ** 2 / expected;
  }, 0);
}

/** Every strategy and combinator under the laws, with parameters that make it decide. */
export const STRATEGIES: readonly (readonly [name: string, strategy: Strategy])[] = [
  ...(['round_robin', 'weighted_round_robin', 'smooth_weighted_round_robin', 'random', 'weighted_random'] as const),
  ...(['least_loaded', 'least_request', 'least_recently_assigned', 'power_of_two_choices', 'waterfall'] as const),
  ...(['skills_match', 'lowest_cost', 'latency_ewma', 'success_rate_thompson', 'success_rate_ucb1'] as const),
  ...(['fair_share', 'sla_deadline', 'priority'] as const),
].map((name): [string, Strategy] => [name, strategyNamed(name)]);

/** Trees under the laws. */
export const TREES: readonly (readonly [name: string, strategy: Strategy])[] = (
  [
    ['least_loaded spare', { strategy: 'least_loaded', params: { mode: 'spare' } }],
    ['least_request 1.5', { strategy: 'least_request', params: { bias: 1.5 } }],
    ['consistent_hash', { strategy: 'consistent_hash', params: { hash_key: 'routable.id' } }],
    ['bounded hash', { strategy: 'consistent_hash', params: { hash_key: 'routable.id', bounded_load_pct: 25 } }],
    ['score', { strategy: 'score', params: { expr: 'recipient.attributes.level * 2.0 - recipient.tier' } }],
    ['inverse cost', { strategy: 'lowest_cost', params: { variant: 'inverse_square' } }],
    ['latency min', { strategy: 'latency_ewma', params: { pick: 'min', buffer_bps: 500 } }],
    ['spilling tiers', { strategy: 'priority', params: { spill: 'unhealthy_fraction' }, of: ['weighted_random'] }],
    ['sticky', { strategy: 'sticky', params: { key: 'routable.id' }, of: ['smooth_weighted_round_robin'] }],
    ['slate', { strategy: 'top_k', params: { k: 3, diversity: 'region' }, of: ['least_loaded'] }],
    ['split', { strategy: 'split', params: { bps: [5000, 5000] }, of: ['random', 'least_loaded'] }],
    ['tie', { strategy: 'tie', of: ['least_loaded', 'smooth_weighted_round_robin'] }],
    ['prefer', { strategy: 'prefer', params: { when: 'recipient.tier == 0' }, of: ['fair_share'] }],
    ['restrict', { strategy: 'restrict', params: { when: 'recipient.tier <= 1' }, of: ['round_robin'] }],
    [
      'chain',
      {
        strategy: 'chain',
        of: [{ strategy: 'restrict', params: { when: 'recipient.tier > 5' }, of: ['random'] }, 'least_request'],
      },
    ],
    ['sum', { strategy: 'weighted_sum', params: { weights_bps: [7000, 3000] }, of: ['least_loaded', 'lowest_cost'] }],
    ['previous', { strategy: 'exclude_previous', params: { count: 2 }, of: ['smooth_weighted_round_robin'] }],
    ['slow start', { strategy: 'slow_start', params: { window: '60s' }, of: ['smooth_weighted_round_robin'] }],
    ['custom', { strategy: 'custom', params: { name: 'mine' } }],
    ['seats', { strategy: 'seat_affinity' }],
    ['ladder', { strategy: 'escalate_on_retry', params: { start: 1 }, of: ['smooth_weighted_round_robin'] }],
    ['shark_tank', { strategy: 'shark_tank', params: { waves: [{ size: 1 }, { after: '60s' }] } }],
  ] as const
).map(([name, tree]): [string, Strategy] => [name, strategyTree(tree)]);

/** Candidates of all kinds, in order of their ids; some of weight 0. */
export const anyCandidates: fc.Arbitrary<Candidate[]> = fc
  .uniqueArray(
    fc.record({
      number: fc.integer({ min: 1, max: 60 }),
      weightMilli: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5000 }), fc.constantFrom(1000, 2000, 5000)),
      tier: fc.integer({ min: 0, max: 3 }),
      order: fc.integer({ min: 0, max: 3 }),
      costMicros: fc.option(fc.bigInt({ min: 0n, max: 3_000_000n }), { nil: undefined }),
      load: fc.integer({ min: 0, max: 6 }),
      cap: fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined }),
      level: fc.integer({ min: 0, max: 4 }),
      region: fc.constantFrom('eu', 'us'),
      facts: fc.record(
        {
          lastAssignedUs: fc.integer({ min: NOW_US - 10, max: NOW_US }),
          latencyUs: fc.integer({ min: 0, max: 1_000_000 }),
          latencyAtUs: fc.integer({ min: NOW_US - 20_000_000, max: NOW_US }),
          successMilli: fc.integer({ min: 0, max: 90_000 }),
          failureMilli: fc.integer({ min: 0, max: 90_000 }),
          ratedAtUs: fc.constant(NOW_US),
          inRotationSinceUs: fc.integer({ min: NOW_US - 100_000_000, max: NOW_US }),
        },
        { requiredKeys: [] },
      ),
    }),
    { selector: ({ number }) => number, minLength: 1, maxLength: 14 },
  )
  .map((list) =>
    list
      .toSorted((a, b) => a.number - b.number)
      .map(({ number, level, region, ...fields }) => candidateOf(number, { ...fields, attributes: { level, region } })),
  );
