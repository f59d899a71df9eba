/** Fallbacks: which reasons they answer to, where they lead, and that their decisions replay byte for byte. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FALLBACK_KINDS, FALLBACK_REASONS } from '../../pools/index.js';
import { createRecordReader } from '../decisions/read-input.js';
import { explain } from '../decisions/explain.js';
import { replay } from '../decisions/replay.js';
import { documentsOf, writeRecord } from '../decisions/write-record.js';
import { admitting, inputOf, recipientOf, snapshotOf } from '../testing/decision-kit.js';
import { idOf, NOW_US } from '../testing/strategy-kit.js';
import { decide } from './decide.js';
import type { Decision, DecisionInput, PoolSnapshot } from './decision.js';

const ONE = [recipientOf(1)];
const NOBODY = [recipientOf(1, { state: 'RECIPIENT_STATE_OFFLINE' })];
const OTHER = snapshotOf(501, {}, [recipientOf(5)]);
const SHUT = { weekly: [{ days: ['sun'], open: '08:00', close: '09:00' }] };

/** How the first pool comes to each reason; `fields` are what its fallback is tried with. */
const COMES_TO: Readonly<Record<string, (config: object) => { readonly pool: PoolSnapshot } & Partial<DecisionInput>>> =
  {
    no_eligible_recipient: (config) => ({ pool: snapshotOf(500, { config }, NOBODY) }),
    all_cooling_down: (config) => ({
      pool: snapshotOf(500, { config }, ONE, { facts: { 1: { cooldownUntilUs: NOW_US + 1 } } }),
    }),
    recipient_capacity_exhausted: (config) => {
      const pool = snapshotOf(500, { config }, [recipientOf(1, { capacity: { max_concurrent: 1 } })]);
      return { pool, admit: admitting([pool, OTHER], { [idOf(1)]: 1 }) };
    },
    pool_closed: (config) => ({ pool: snapshotOf(500, { config: { schedule: SHUT, ...config } }, ONE) }),
    sla_breached: (config) => ({ pool: snapshotOf(500, { config }, ONE), isBreached: true }),
    pool_disabled: (config) => ({ pool: snapshotOf(500, { status: 'STATUS_PAUSED', config }, ONE) }),
    pool_kill_switched: (config) => ({ pool: snapshotOf(500, { config }, ONE, { isKilled: true }) }),
    capacity_authority_unavailable: (config) => {
      const pool = snapshotOf(500, { config }, ONE);
      const admit = admitting([pool, OTHER]);
      const isDown = (poolId: string): boolean => poolId === pool.view.id;
      return { pool, admit: (poolId, slate) => (isDown(poolId) ? { kind: 'unavailable' } : admit(poolId, slate)) };
    },
    strategy_error: (config) => {
      const tree = { strategy: 'score', params: { expr: 'recipient.attributes.none + 1.0', on_error: 'fail' } };
      return { pool: snapshotOf(500, { config: { strategy_tree: tree, ...config } }, ONE) };
    },
    deadline_exceeded: (config) => ({ pool: snapshotOf(500, { config }, ONE), spentUs: 60_000_000 }),
  };

const OUTAGES = ['pool_disabled', 'pool_kill_switched', 'capacity_authority_unavailable'];
const FINAL = ['strategy_error', 'deadline_exceeded'];

/** The rule in words of its own: outages by their flag alone, final reasons never, everything else by `on`. */
function shouldAnswer(reason: string, on: readonly string[] | undefined, onOutage: boolean | undefined): boolean {
  if (FINAL.includes(reason)) return false;
  if (OUTAGES.includes(reason)) return onOutage === true;
  // A breach that has come answers to the name of one that was to be expected.
  const names: Readonly<Record<string, string>> = {
    ...{ all_cooling_down: 'no_eligible_recipient', sla_breached: 'sla_breach_predicted' },
  };
  const asked = names[reason] ?? reason;
  return on === undefined || on.includes(asked);
}

const reader = createRecordReader();

/** The decision; its record must replay to the same bytes. */
function decided(input: DecisionInput): Decision {
  const decision = decide(input);
  const record = writeRecord(decision, { version: '1', tzdb: '' });
  const documents = new Map(
    [...documentsOf(decision)].map(([digest, each]) => [digest, JSON.parse(JSON.stringify(each)) as unknown]),
  );
  expect(replay(record, documents, reader).record).toBe(record);
  return decision;
}

describe('a fallback', () => {
  it.each(Object.keys(COMES_TO))('answers to %s exactly when it says so', (reason) => {
    const ons = [undefined, [], ...FALLBACK_REASONS.map((each) => [each]), [...FALLBACK_REASONS]];
    for (const on of ons) {
      for (const on_outage of [undefined, false, true]) {
        const fallback = { kind: 'overflow', target: idOf(501), ...(on && { on }), ...{ on_outage } };
        const { pool, ...given } =
          COMES_TO[reason]?.({ fallback: JSON.parse(JSON.stringify(fallback)) as object }) ?? {};
        if (pool === undefined) throw new TypeError(reason);
        const decision = decided(inputOf([pool, OTHER], given));
        expect(decision.hops[0]?.reason).toBe(reason);
        const isSpilt = decision.poolId === idOf(501);
        expect([on, on_outage, isSpilt]).toEqual([on, on_outage, shouldAnswer(reason, on, on_outage)]);
        if (isSpilt) expect(decision.outcome).toBe('assigned');
      }
    }
  });

  it.each([
    ['none', 'no_eligible_recipient'],
    ['queue', 'queued'],
    ['retry', 'deferred'],
    ['default_recipient', 'assigned'],
    ['overflow', 'assigned'],
    ['catchall', 'assigned'],
    ['claim', 'queued_for_claim'],
    ['next_open', 'deferred'],
    ['dead_letter', 'dead_lettered'],
  ] as const)('%s ends as %s, and says so', (kind, outcome) => {
    const spare = recipientOf(9);
    const config = {
      fallback: { kind, ...(kind === 'retry' && { delay: '5s' }) },
      ...{ overflow_pool_id: idOf(501), catchall_pool_id: idOf(501), fallback_recipient_id: spare.id },
      ...{ claim_queue_id: idOf(700), ...(kind === 'next_open' && { schedule: SHUT }) },
    };
    const pool = snapshotOf(500, { config }, NOBODY, { standbys: [spare] });
    const decision = decided(inputOf([pool, OTHER]));
    expect(decision.outcome).toBe(outcome);
    const [first] = explain(decision).hops;
    expect(first?.fallback?.split(' ')[0]).toBe(kind === 'none' ? undefined : kind);
  });

  it('knows every kind', () => {
    expect(FALLBACK_KINDS).toHaveLength(9);
  });

  it('puts off as often as it says, then the next one has it', () => {
    const fallback = [{ kind: 'retry', delay: '5s', max_attempts: 2 }, { kind: 'dead_letter' }];
    const pool = snapshotOf(500, { config: { fallback } }, NOBODY);
    const outcomes = [0, 1, 2, 3].map((tried) => decided(inputOf([pool], { tried })).outcome);
    expect(outcomes).toEqual(['deferred', 'deferred', 'dead_lettered', 'dead_lettered']);
  });
});

describe('a recipient that a pool falls back to', () => {
  const config = { fallback: { kind: 'default_recipient', target: idOf(9) } };
  const standing = (spare: object, extra: Partial<DecisionInput> = {}): Decision => {
    const pool = snapshotOf(500, { config: { fallback: config.fallback } }, NOBODY, {
      standbys: [recipientOf(9, spare)],
    });
    return decided(inputOf([pool], extra));
  };

  it('need not belong to the pool, and is never chosen without need', () => {
    expect(standing({})).toMatchObject({ outcome: 'assigned', slate: [{ id: idOf(9) }], poolId: idOf(500) });
    const pool = snapshotOf(500, { config: { fallback: config.fallback } }, ONE, { standbys: [recipientOf(9)] });
    const picked = Array.from({ length: 20 }, (_, index) =>
      decided(inputOf([pool], { decisionId: idOf(800 + index) })),
    );
    expect(new Set(picked.flatMap(({ slate }) => slate.map(({ id }) => id)))).toEqual(new Set([idOf(1)]));
    expect(picked[0]?.hops[0]?.filtered?.looked).toHaveLength(1);
    const [named] = decided(inputOf([pool], { recipientId: idOf(9) })).hops;
    expect(named?.reason).toBe('no_eligible_recipient');
  });

  it('is filtered and admitted as any other', () => {
    expect(standing({ state: 'RECIPIENT_STATE_PAUSED' }).outcome).toBe('no_eligible_recipient');
    expect(standing({}, { excluded: new Set([idOf(9)]) }).outcome).toBe('no_eligible_recipient');
    const full = { capacity: { max_concurrent: 1 } };
    const pool = snapshotOf(500, { config: { fallback: config.fallback } }, NOBODY, {
      standbys: [recipientOf(9, full)],
    });
    const refused = decided(inputOf([pool], { admit: admitting([pool], { [idOf(9)]: 1 }) }));
    expect(refused.outcome).toBe('no_eligible_recipient');
    expect(refused.hops.map(({ reason }) => reason)).toEqual(['no_eligible_recipient', 'recipient_capacity_exhausted']);
  });
});

describe('any graph of pools', () => {
  const COUNT = 6;
  const target = fc.integer({ min: 0, max: COUNT - 1 }).map((index) => idOf(500 + index));
  const one = fc.oneof(
    target.map((id) => ({ kind: 'overflow', target: id })),
    target.map((id) => ({ kind: 'catchall', target: id, on_outage: true })),
    fc.constant({ kind: 'default_recipient', target: idOf(9) }),
    fc.constant({ kind: 'retry', delay: '1s', max_attempts: 1 }),
    fc.constantFrom(...FALLBACK_REASONS).map((reason) => ({ kind: 'dead_letter', on: [reason] })),
  );
  const pool = fc.record({
    depth: fc.integer({ min: 1, max: 10 }),
    fallback: fc.array(one, { maxLength: 3 }),
    status: fc.constantFrom('STATUS_ACTIVE', 'STATUS_ACTIVE', 'STATUS_PAUSED'),
    people: fc.constantFrom(NOBODY, NOBODY, NOBODY, ONE),
    spare: fc.constantFrom('RECIPIENT_STATE_AVAILABLE', 'RECIPIENT_STATE_OFFLINE'),
  });

  it('is left in the end: no pool twice, no deeper than any of them allows, the same again from its record', () => {
    const longest = { hops: 0 };
    const graphs = fc.tuple(fc.array(pool, { minLength: COUNT, maxLength: COUNT }), fc.integer({ min: 0, max: 2 }));
    fc.assert(
      fc.property(graphs, ([pools, tried]) => {
        const snapshots = pools.map(({ depth, fallback, status, people, spare }, index) => {
          const config = { max_routing_depth: depth, fallback };
          return snapshotOf(500 + index, { config, status }, people, { standbys: [recipientOf(9, { state: spare })] });
        });
        const { hops } = decided(inputOf(snapshots, { tried }));
        const entered = hops.filter(({ direct }) => direct === undefined).map(({ snapshot }) => snapshot.view);
        expect(new Set(entered.map(({ id }) => id)).size).toBe(entered.length);
        // A pool is entered while all those before it allow one more.
        for (const index of entered.keys()) {
          const allowed = entered.slice(0, index).map(({ settings }) => settings.maxDepth);
          expect(index).toBeLessThan(Math.min(COUNT, ...allowed));
        }
        longest.hops = Math.max(longest.hops, entered.length);
      }),
      { numRuns: 500 },
    );
    expect(longest.hops).toBeGreaterThan(2);
  });
});
