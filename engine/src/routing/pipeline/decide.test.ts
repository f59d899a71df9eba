import { describe, expect, it } from 'vitest';
import { explain } from '../decisions/explain.js';
import { admitting, inputOf, recipientOf, rulesOf, snapshotOf } from '../testing/decision-kit.js';
import { idOf, NOW_US } from '../testing/strategy-kit.js';
import type { Admission } from './admission.js';
import { decide } from './decide.js';
import type { PoolSnapshot } from './decision.js';

const TWO = [recipientOf(1), recipientOf(2)];

function pool(
  config: object = {},
  number = 500,
  recipients = TWO,
  now: Parameters<typeof snapshotOf>[3] = {},
): PoolSnapshot {
  return snapshotOf(number, { strategy: 'least_loaded', config }, recipients, now);
}

function verdictsIn(
  snapshot: PoolSnapshot,
  fields: Parameters<typeof inputOf>[1] = {},
): Readonly<Record<string, readonly string[]>> {
  const [hop] = decide(inputOf([snapshot], fields)).hops;
  const entries = (hop?.filtered?.looked ?? []).map(({ member, verdicts }) => [
    String(member.scope['name']),
    verdicts.map(({ code }) => code),
  ]);
  return Object.fromEntries(entries);
}

describe('Validate', () => {
  it('refuses what has expired and answers what was decided before', () => {
    expect(decide(inputOf([pool()], { work: { expires_at: '2026-07-11T10:45:00Z' } }))).toMatchObject({
      outcome: 'rejected',
      outcomeClass: 'refused',
      reason: 'routable_expired',
    });
    expect(decide(inputOf([pool()], { duplicateOf: idOf(5) }))).toMatchObject({
      outcome: 'duplicate',
      outcomeClass: 'success',
    });
  });

  it('asks rules by priority, then name, until one stops; one that fails does not match', () => {
    const rules = rulesOf(
      { name: 'b', priority: 5, expr: 'true', pool_id: idOf(501) },
      { name: 'a', priority: 5, expr: 'routable.attributes.nothing == 1', pool_id: idOf(502) },
      { name: 'z', priority: 1, expr: 'routable.type == "lead"', pool_id: idOf(500), stop: false },
      { name: 'off', priority: 0, expr: 'true', action: 'drop', enabled: false },
      { name: 'later', priority: 0, expr: 'true', action: 'drop', effective_from: '2027-01-01T00:00:00Z' },
      { name: 'never', priority: 9, expr: 'true', action: 'drop' },
    );
    const decision = decide(inputOf([pool(), pool({}, 501)], { poolId: undefined, rules }));
    expect(decision.rules.trace.map(([{ fields }, result]) => [fields.name, result])).toEqual([
      ['z', true],
      ['a', 'expression_failed'],
      ['b', true],
    ]);
    expect(decision.poolId).toBe(idOf(501));
  });

  it.each([
    ['drop', 'dropped', 'dropped_by_rule'],
    ['hold', 'queued', 'held_by_rule'],
  ])('a rule that says %s: %s', (action, outcome, reason) => {
    const rules = rulesOf({ expr: 'true', action });
    expect(decide(inputOf([pool()], { poolId: undefined, rules }))).toMatchObject({ outcome, reason });
  });

  it('says when no rule matches and when a pool is not there', () => {
    expect(
      decide(inputOf([pool()], { poolId: undefined, rules: rulesOf({ expr: 'false', pool_id: idOf(1) }) })).outcome,
    ).toBe('no_matching_rule');
    expect(decide(inputOf([], { poolId: idOf(1) }))).toMatchObject({
      outcome: 'error',
      reason: 'pool_not_found',
      outcomeClass: 'infrastructure',
    });
  });

  it.each([
    ['STATUS_PAUSED', false, 'pool_disabled', 'pool_disabled'],
    ['STATUS_ACTIVE', true, 'pool_disabled', 'pool_kill_switched'],
  ])('a pool that is %s and killed: %s', (status, isKilled, outcome, reason) => {
    const snapshot = snapshotOf(500, { status }, TWO, { isKilled });
    expect(decide(inputOf([snapshot]))).toMatchObject({ outcome, reason });
  });

  it('a pool out of hours is closed', () => {
    const schedule = { weekly: [{ days: ['mon'], open: '09:00', close: '17:00' }] };
    expect(decide(inputOf([pool({ schedule })])).outcome).toBe('pool_closed');
  });
});

describe('Enrich', () => {
  const config = {
    enrichments: [
      {
        ...{ name: 'geo', kind: 'lookup', on_error: 'fail', key: 'routable.attributes.zip' },
        table: { '10115': { country: 'DE' }, '94107': { country: 'US' } },
      },
      { name: 'is_near', kind: 'expr', expr: 'enrichments.geo.country == "US"' },
    ],
    eligibility_rule: 'enrichments.is_near || recipient.name == "r2"',
  };
  const work = (zip: string) => ({ attributes: { zip } });

  it('gives values to expressions', () => {
    expect(verdictsIn(pool(config), { work: work('10115') })).toEqual({ r1: ['rule_false'], r2: [] });
    expect(verdictsIn(pool(config), { work: work('94107') })).toEqual({ r1: [], r2: [] });
  });

  it('fails when one that must succeed did not, and when time is up', () => {
    expect(decide(inputOf([pool(config)], { work: work('1') }))).toMatchObject({
      outcome: 'error',
      reason: 'enrichment_failed',
    });
    expect(decide(inputOf([pool({ default_timeout: '1s' })], { spentUs: 1_000_001 })).outcome).toBe(
      'deadline_exceeded',
    );
  });
});

describe('Filter', () => {
  it('keeps every verdict, in one order', () => {
    const broken = recipientOf(1, {
      status: 'STATUS_INACTIVE',
      state: 'RECIPIENT_STATE_PAUSED',
      weight: 0,
      capacity: { max_concurrent: 2, daily_limit: 3 },
      schedule: { weekly: [] },
    });
    const facts = {
      1: { held: 1, committed: 1, admittedToday: 2, committedToday: 1, cooldownUntilUs: NOW_US + 1, isEjected: true },
    };
    const snapshot = pool({ eligibility_rule: 'recipient.attributes.x == 1' }, 500, [broken], { facts });
    const fields = {
      excluded: new Set([idOf(1)]),
      conflicting: new Set([idOf(1)]),
      work: { required_skills: ['solar'] },
    };
    expect(verdictsIn(snapshot, fields)['r1']).toEqual([
      'status_inactive',
      'state_not_available',
      'outside_schedule',
      'weight_zero',
      'excluded_previous',
      'rule_error',
      'skill_missing',
      'dedupe_conflict',
      'at_concurrency',
      'at_daily',
      'ejected',
    ]);
  });

  it('lets a state end by itself', () => {
    const until = (state_until: string) => recipientOf(1, { state: 'RECIPIENT_STATE_WRAP_UP', state_until });
    expect(verdictsIn(pool({}, 500, [until('2026-07-11T10:45:00Z')]))['r1']).toEqual([]);
    expect(verdictsIn(pool({}, 500, [until('2026-07-11T10:45:01Z')]))['r1']).toEqual(['state_not_available']);
  });

  it('counts units: the last one that fits is let in, the smaller positive limit counts', () => {
    const facts = { 1: { held: 1, committed: 2 } };
    const limited = recipientOf(1, { capacity: { max_concurrent: 5, unit_costs: { default: 2, chat: 3 } } });
    const snapshot = pool({}, 500, [limited], { facts });
    expect(verdictsIn(snapshot)['r1']).toEqual([]);
    expect(verdictsIn(snapshot, { work: { channel: 'chat' } })['r1']).toEqual(['at_concurrency']);
    expect(verdictsIn(snapshot, { pinned: new Map([[idOf(1), 4]]) })['r1']).toEqual(['at_concurrency']);
    expect(verdictsIn(snapshot, { pinned: new Map([[idOf(1), 99]]) })['r1']).toEqual([]);
  });

  it('keeps room for what is urgent, and widens only where the pool says so', () => {
    const limited = recipientOf(1, { capacity: { max_concurrent: 10 } });
    const facts = { 1: { committed: 8 } };
    const headroom = pool({ capacity_headroom_pct: 20, headroom_priority: 5 }, 500, [limited], { facts });
    expect(verdictsIn(headroom, { work: { priority: 4 } })['r1']).toEqual(['at_concurrency']);
    expect(verdictsIn(headroom, { work: { priority: 5 } })['r1']).toEqual([]);
    const full = { 1: { committed: 10 } };
    expect(verdictsIn(pool({ over_capacity_budget: 2 }, 500, [limited], { facts: full }))['r1']).toEqual([
      'at_concurrency',
    ]);
    expect(
      verdictsIn(pool({ allow_over_capacity: true, over_capacity_budget: 2 }, 500, [limited], { facts: full }))['r1'],
    ).toEqual([]);
  });

  it('a widened filter grants nothing: admission still refuses', () => {
    const limited = recipientOf(1, { capacity: { max_concurrent: 1 } });
    const snapshot = pool({ allow_over_capacity: true, over_capacity_budget: 9 }, 500, [limited], {
      facts: { 1: { committed: 1 } },
    });
    expect(decide(inputOf([snapshot])).outcome).toBe('recipient_capacity_exhausted');
  });

  it('ignores ejections when fewer than half are healthy, and says so', () => {
    const out = { cooldownUntilUs: NOW_US + 1, isEjected: true };
    const three = [1, 2, 3].map((number) => recipientOf(number));
    const calm = decide(inputOf([pool({}, 500, three, { facts: { 1: out } })]));
    expect(calm.hops[0]?.filtered?.candidates).toHaveLength(2);
    const panic = decide(inputOf([pool({}, 500, three, { facts: { 1: out, 2: out } })]));
    expect(panic.hops[0]?.filtered?.candidates).toHaveLength(3);
    expect(explain(panic).hops[0]?.notes).toContain('panic: ejections are ignored');
    expect(explain(panic).hops[0]?.dropped).toEqual([]);
  });

  it('says when to come back when everybody cools down', () => {
    const facts = { 1: { cooldownUntilUs: NOW_US + 9 }, 2: { cooldownUntilUs: NOW_US + 5 } };
    expect(decide(inputOf([pool({}, 500, TWO, { facts })]))).toMatchObject({
      outcome: 'all_cooling_down',
      retryAtUs: NOW_US + 5,
    });
  });
});

describe('Select', () => {
  it('a claim pool places the work in its queue', () => {
    const snapshot = pool({ routing_mode: 'claim', claim_queue_id: idOf(600) });
    expect(decide(inputOf([snapshot]))).toMatchObject({
      outcome: 'queued_for_claim',
      outcomeClass: 'waiting',
      claimQueueId: idOf(600),
      slate: [],
    });
  });
  it('a recipient named in the request is filtered like any other', () => {
    expect(decide(inputOf([pool()], { recipientId: idOf(2) })).slate).toEqual([{ id: idOf(2), units: 1 }]);
    const away = [recipientOf(1), recipientOf(2, { state: 'RECIPIENT_STATE_AWAY' })];
    expect(decide(inputOf([pool({}, 500, away)], { recipientId: idOf(2) })).outcome).toBe('no_eligible_recipient');
  });
  it('an expression that fails where it must not is an error of the pool', () => {
    const snapshot = snapshotOf(
      500,
      { strategy: 'sticky', config: { strategy_params: { key: 'routable.attributes.account' } } },
      TWO,
    );
    expect(decide(inputOf([snapshot]))).toMatchObject({ outcome: 'error', reason: 'strategy_error' });
  });
});

describe('Assign', () => {
  it('assigns, or offers where acceptance is asked for; a preview asks nobody', () => {
    expect(decide(inputOf([pool()]))).toMatchObject({ outcome: 'assigned', outcomeClass: 'success' });
    expect(decide(inputOf([pool({ requires_acceptance: true })])).outcome).toBe('offered');
    const preview = decide(inputOf([pool()], { admit: undefined }));
    expect([preview.outcome, preview.hops[0]?.attempts[0]?.admission]).toEqual(['assigned', undefined]);
  });

  it('selects again without those that were refused, with another seed, and gives up in the end', () => {
    const limited = [1, 2, 3, 4].map((number) => recipientOf(number, { capacity: { max_concurrent: 1 } }));
    const snapshot = pool({}, 500, limited);
    const second = decide(
      inputOf([snapshot], { admit: admitting([snapshot], { [idOf(1)]: 1, [idOf(2)]: 1, [idOf(3)]: 1, [idOf(4)]: 0 }) }),
    );
    const seeds = second.hops[0]?.attempts.map(({ moment }) => moment.seed.join()) ?? [];
    expect(new Set(seeds).size).toBe(seeds.length);
    const full = Object.fromEntries(limited.map(({ id }) => [id, 1]));
    const refused = decide(inputOf([snapshot], { admit: admitting([snapshot], full) }));
    expect(refused).toMatchObject({ outcome: 'recipient_capacity_exhausted', changes: [], slate: [] });
    expect(refused.hops[0]?.attempts).toHaveLength(3);
    const tried = refused.hops[0]?.attempts.map(({ selection }) => selection.slate[0]?.id) ?? [];
    expect(new Set(tried).size).toBe(3);
  });

  it('never takes an outage for an answer about capacity', () => {
    const admit = (): Admission => ({ kind: 'unavailable' });
    const fallback = { fallback: { kind: 'overflow' }, overflow_pool_id: idOf(501) };
    expect(decide(inputOf([pool(fallback), pool({}, 501)], { admit }))).toMatchObject({
      outcome: 'capacity_authority_unavailable',
      outcomeClass: 'infrastructure',
      poolId: idOf(500),
    });
  });

  it('writes no state of a choice that was refused', () => {
    const limited = [recipientOf(1, { capacity: { max_concurrent: 1 } })];
    const snapshot = snapshotOf(500, { strategy: 'round_robin' }, limited);
    expect(decide(inputOf([snapshot], { admit: admitting([snapshot], { [idOf(1)]: 1 }) })).changes).toEqual([]);
    expect(decide(inputOf([snapshot])).changes).toHaveLength(1);
  });

  it('admits a slate as a whole or not at all', () => {
    const some = [recipientOf(1), recipientOf(2, { capacity: { max_concurrent: 1 } })];
    const snapshot = pool({ slate_size: 2 }, 500, some);
    const decision = decide(inputOf([snapshot], { admit: admitting([snapshot], { [idOf(2)]: 1 }) }));
    expect(decision.hops[0]?.attempts.map(({ admission }) => admission?.kind)).toEqual(['refused', 'granted']);
    expect(decision.slate).toEqual([{ id: idOf(1), units: 1 }]);
  });
});

describe('fallbacks', () => {
  const nobody = [recipientOf(1, { state: 'RECIPIENT_STATE_OFFLINE' })];
  const empty = (config: object, number = 500) => pool(config, number, nobody);

  it.each([
    ['queue', {}, 'queued'],
    ['retry', { delay: '30s' }, 'deferred'],
    ['dead_letter', {}, 'dead_lettered'],
    ['claim', { target: idOf(600) }, 'queued_for_claim'],
    ['none', {}, 'no_eligible_recipient'],
  ])('%s', (kind, fields, outcome) => {
    expect(decide(inputOf([empty({ fallback: { kind, ...fields } })])).outcome).toBe(outcome);
  });

  it('retries when it says, and opens when the schedule says', () => {
    expect(decide(inputOf([empty({ fallback: { kind: 'retry', delay: '30s' } })])).retryAtUs).toBe(NOW_US + 30_000_000);
    const schedule = { weekly: [{ days: ['sun'], open: '08:00', close: '09:00' }] };
    const decision = decide(inputOf([pool({ schedule, fallback: { kind: 'next_open' } })]));
    // 2026-07-11 is a Saturday, 10:45; Sunday 08:00 is 21 h 15 min away.
    expect(decision).toMatchObject({ outcome: 'deferred', retryAtUs: NOW_US + 21.25 * 3_600_000_000 });
  });

  it('spills into another pool, and says the way it took', () => {
    const decision = decide(
      inputOf([empty({ fallback: { kind: 'overflow' }, overflow_pool_id: idOf(501) }), pool({}, 501)]),
    );
    expect(decision).toMatchObject({ outcome: 'assigned', poolId: idOf(501) });
    expect(decision.hops.map(({ fell }) => fell)).toEqual([{ kind: 'overflow', nextPoolId: idOf(501) }, undefined]);
  });

  it('never enters a pool twice and never goes deeper than it may', () => {
    const to = (number: number, depth = 10) => ({
      fallback: { kind: 'overflow' },
      overflow_pool_id: idOf(number),
      max_routing_depth: depth,
    });
    expect(decide(inputOf([empty(to(501)), empty(to(500), 501)]))).toMatchObject({
      outcome: 'max_depth_exceeded',
      reason: 'routing_cycle',
    });
    const chain = [empty(to(501, 2)), empty(to(502), 501), pool({}, 502)];
    expect(decide(inputOf(chain))).toMatchObject({ outcome: 'max_depth_exceeded', reason: 'max_depth_exceeded' });
  });

  it('answers only to the reasons it names', () => {
    const fallback = [
      { kind: 'queue', on: ['recipient_capacity_exhausted'] },
      { kind: 'dead_letter', on: ['no_eligible_recipient'] },
    ];
    expect(decide(inputOf([empty({ fallback })])).outcome).toBe('dead_lettered');
  });

  it('lets an outage spill only where the pool says so', () => {
    const spilling = (on_outage: boolean) =>
      snapshotOf(500, { config: { fallback: { kind: 'overflow', on_outage }, overflow_pool_id: idOf(501) } }, TWO, {
        isKilled: true,
      });
    expect(decide(inputOf([spilling(false), pool({}, 501)])).outcome).toBe('pool_disabled');
    expect(decide(inputOf([spilling(true), pool({}, 501)])).outcome).toBe('assigned');
  });

  it('to one recipient is filtered and admitted as any other', () => {
    const config = { eligibility_rule: 'false', fallback: { kind: 'default_recipient', target: idOf(2) } };
    expect(decide(inputOf([pool(config)])).outcome).toBe('no_eligible_recipient');
  });
});
