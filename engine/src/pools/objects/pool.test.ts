import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { canonicalJson, DuctorError } from '../../kernel/index.js';
import { mergePatch } from './check.js';
import { poolCheck } from './pool.js';

const pools = poolCheck(createCelCompiler());
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

function refusal(act: () => unknown): DuctorError {
  try {
    act();
  } catch (caught) {
    if (caught instanceof DuctorError) return caught;
    throw caught;
  }
  throw new DuctorError('internal', 'it was accepted');
}

function refused(input: unknown): readonly string[] {
  return refusal(() => pools.create(input)).details.map(({ path, problem }) => `${path} ${problem}`);
}

/** The body of the example that creates a pool on the users' page. */
const BILLING = {
  name: 'billing-agents',
  description: 'Tier-2 billing support',
  strategy: 'smooth_weighted_round_robin',
  status: 'STATUS_ACTIVE',
  config: { routing_mode: 'auto', default_timeout: '30s', max_routing_depth: 3 },
  metadata: { team: 'billing' },
};

describe('a pool is created', () => {
  it('as the page of the users writes it, and keeps exactly what was sent', () => {
    expect(pools.create(BILLING)).toEqual(BILLING);
  });

  it('from a name alone', () => {
    expect(pools.create({ name: 'p' })).toEqual({
      name: 'p',
      description: '',
      status: 'STATUS_ACTIVE',
      strategy: '',
      config: {},
      metadata: {},
    });
  });

  it('with durations in one form', () => {
    const config = { default_timeout: '2m', offer_timeout: '1500ms', sla: { pickup_within: '1h30m' } };
    expect(pools.create({ name: 'p', config }).config).toEqual({
      default_timeout: '120s',
      offer_timeout: '1.5s',
      sla: { pickup_within: '5400s' },
    });
  });

  it('with waiting work that rises, or does not, by the clock of its SLA', () => {
    const rising = { sla: { priority_boost_per_min: 1000, start_event: 'routed' }, queue: { order: 'priority_age' } };
    const still = { sla: { priority_boost_per_min: 0, clock: 'business' }, queue: { order: 'lifo' } };
    for (const config of [rising, still]) expect(pools.create({ name: 'p', config }).config).toEqual(config);
  });

  const WRONG: readonly (readonly [why: string, input: object, problem: string])[] = [
    ['no name', {}, 'name is missing'],
    ['a name with a space', { name: 'a b' }, 'name is not a name of 1 to 128 letters'],
    ['a number as description', { name: 'p', description: 5 }, 'description is not a string'],
    ['an unknown status', { name: 'p', status: 'ACTIVE' }, 'status is not one of its values'],
    ['an unknown strategy', { name: 'p', strategy: 'round_robbin' }, 'strategy is not one of its values'],
    ['an unknown field', { name: 'p', config: { slate: 2 } }, 'config.slate is not a field'],
    ['a slate of 0', { name: 'p', config: { slate_size: 0 } }, 'config.slate_size is too small'],
    ['a slate of 101', { name: 'p', config: { slate_size: 101 } }, 'config.slate_size is too large'],
    [
      'a depth of 1.5',
      { name: 'p', config: { max_routing_depth: 1.5 } },
      'config.max_routing_depth is not a whole number',
    ],
    [
      'a timeout without unit',
      { name: 'p', config: { default_timeout: '30' } },
      'config.default_timeout is not a duration',
    ],
    [
      'a timeout of 2 days',
      { name: 'p', config: { default_timeout: '2d' } },
      'config.default_timeout is not from 0.1s',
    ],
    [
      'an id in capitals',
      { name: 'p', config: { overflow_pool_id: ID.toUpperCase() } },
      'config.overflow_pool_id is not an id',
    ],
    [
      'overflow without a pool',
      { name: 'p', config: { fallback: { kind: 'overflow' } } },
      'config.overflow_pool_id is missing',
    ],
    [
      'catchall without a pool',
      { name: 'p', config: { fallback: [{ kind: 'catchall' }] } },
      'config.catchall_pool_id is missing',
    ],
    ['a retry without delay', { name: 'p', config: { fallback: { kind: 'retry' } } }, 'config.fallback'],
    [
      'claim mode without a queue',
      { name: 'p', config: { routing_mode: 'claim' } },
      'config.claim_queue_id is missing',
    ],
    [
      'a zone nobody knows',
      { name: 'p', config: { schedule: { timezone: 'Mars/Base' } } },
      'config.schedule.timezone is not',
    ],
    [
      'a 25th hour',
      { name: 'p', config: { schedule: { weekly: [{ days: ['mon'], open: '25:00', close: '26:00' }] } } },
      'config.schedule.weekly[0].open is not a time of day',
    ],
    [
      'a rule that does not parse',
      { name: 'p', config: { eligibility_rule: 'recipient.tags[' } },
      'config.eligibility_rule line 1',
    ],
    [
      'a rule of another type',
      { name: 'p', config: { eligibility_rule: 'recipient.weight' } },
      'config.eligibility_rule line 1, column 1: it yields a double',
    ],
    [
      'a rule with a misspelt field',
      { name: 'p', config: { eligibility_rule: 'recipient.nmae == "x"' } },
      'config.eligibility_rule line 1, column 11',
    ],
    [
      'a recipient in a key',
      { name: 'p', config: { affinity: { key: 'recipient.id' } } },
      'config.affinity.key line 1',
    ],
    [
      'SLA clauses out of order',
      { name: 'p', config: { sla: { pickup_within: '2m', resolve_within: '1m' } } },
      'config.sla has clauses out of order',
    ],
    [
      'a breach that nothing is done about',
      { name: 'p', config: { sla: { on_breach: ['notify', 'escalate_priority(0)'] } } },
      'config.sla.on_breach[1] is nothing that is done about a breach',
    ],
    [
      'a breach that falls back to nothing',
      { name: 'p', config: { sla: { on_breach: ['fallback'] } } },
      'config.sla.on_breach falls back to nothing',
    ],
    [
      'waiting work that rises by open time',
      { name: 'p', config: { sla: { priority_boost_per_min: 3, clock: 'business' } } },
      'config.sla raises waiting work (priority_boost_per_min) by all time, and not by the business clock',
    ],
    [
      'waiting work that rises once it is assigned',
      { name: 'p', config: { sla: { priority_boost_per_min: 3, start_event: 'assigned' } } },
      'config.sla raises waiting work (priority_boost_per_min) by a clock that begins once it is assigned',
    ],
    [
      'waiting work that rises in an order of time alone',
      { name: 'p', config: { sla: { priority_boost_per_min: 3 }, queue: { order: 'fifo' } } },
      'config.sla.priority_boost_per_min raises nothing in a queue whose order is fifo',
    ],
    [
      'params of another strategy',
      { name: 'p', strategy: 'random', config: { strategy_params: { d: 3 } } },
      'config.strategy_params.d is not a field',
    ],
    [
      'params without a strategy',
      { name: 'p', config: { strategy_params: { d: 3 } } },
      'config.strategy_params belongs to no strategy',
    ],
    ['a combinator alone', { name: 'p', strategy: 'chain' }, 'strategy chain needs strategies to choose by'],
    ['a score without expression', { name: 'p', strategy: 'score' }, 'config.strategy_params.expr is missing'],
    ['metadata of numbers', { name: 'p', metadata: { a: 1 } }, 'metadata.a is not a string'],
  ];
  it.each(WRONG)('not with %s', (_, input, problem) => {
    expect(refused(input)).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
  });

  it('not with two strategies: a code of its own', () => {
    const input = { ...BILLING, config: { recipe: { name: 'sla_rescue' } } };
    expect(refusal(() => pools.create(input)).code).toBe('strategy_conflict');
  });

  it('saying what stands there and what to do', () => {
    const [problem] = refusal(() => pools.create({ name: 'p', strategy: 'round_robbin' })).details;
    expect(problem?.value).toBe('round_robbin');
    expect(problem?.remedy).toContain('Did you mean "round_robin"?');
    const [field] = refusal(() => pools.create({ name: 'p', config: { slate_sise: 3 } })).details;
    expect(field).toEqual({
      path: 'config.slate_sise',
      value: '3',
      problem: 'is not a field',
      remedy: 'Remove it. Did you mean "slate_size"?',
    });
  });
});

describe('a partial update', () => {
  it('of the page changes what it names and nothing else', () => {
    const before = pools.create(BILLING);
    const patch = { strategy: 'weighted_round_robin', config: { default_timeout: '45s' } };
    expect(pools.update(before, patch)).toEqual({
      ...BILLING,
      strategy: 'weighted_round_robin',
      config: { ...BILLING.config, default_timeout: '45s' },
    });
  });

  it('clears with null and replaces lists', () => {
    const before = pools.create({
      ...BILLING,
      config: { fallback: [{ kind: 'queue' }, { kind: 'dead_letter' }], slate_size: 2 },
    });
    const after = pools.update(before, { config: { fallback: [{ kind: 'none' }], slate_size: null } });
    expect(after.config).toEqual({ fallback: [{ kind: 'none' }] });
  });

  it('is refused when the whole would be wrong, though the patch alone is fine', () => {
    const before = pools.create({ name: 'p', config: { fallback: { kind: 'overflow' }, overflow_pool_id: ID } });
    expect(refusal(() => pools.update(before, { config: { overflow_pool_id: null } })).details[0]?.path).toBe(
      'config.overflow_pool_id',
    );
  });

  it('leaves every field it does not name byte for byte (500 pairs)', () => {
    const config = fc.record(
      {
        default_timeout: fc.constantFrom('30s', '250ms', '1h30m'),
        max_routing_depth: fc.integer({ min: 1, max: 10 }),
        slate_size: fc.integer({ min: 1, max: 100 }),
        eligibility_rule: fc.constantFrom('true', '"x" in recipient.tags'),
        health: fc.record({ panic_pct: fc.integer({ min: 0, max: 100 }), base: fc.constantFrom('1m', '30s') }),
        strategy_params: fc.constant({ d: 3 }),
      },
      { requiredKeys: ['strategy_params'] },
    );
    const pool = fc.record(
      {
        name: fc.constantFrom('a', 'b.c', 'd-9'),
        description: fc.string({ maxLength: 20 }),
        strategy: fc.constant('power_of_two_choices'),
        config,
        metadata: fc.dictionary(fc.constantFrom('k', 'l'), fc.string({ maxLength: 5 })),
      },
      { requiredKeys: ['name', 'strategy', 'config'] },
    );
    fc.assert(
      fc.property(pool, pool, (first, second) => {
        const before = pools.create(first);
        const after = pools.update(before, second);
        expect(canonicalJson(after)).toBe(canonicalJson(pools.create(mergePatch(before, second))));
        expect(canonicalJson(pools.update(before, {}))).toBe(canonicalJson(before));
        for (const key of Object.keys(before)) {
          if (!Object.hasOwn(second, key)) expect(Reflect.get(after, key)).toEqual(Reflect.get(before, key));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('with keys that objects inherit changes no prototype', () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__":{"polluted":1}}'));
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(JSON.stringify(merged)).toContain('polluted');
  });
});
