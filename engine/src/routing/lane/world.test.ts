import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRoutable } from '../core/routable.js';
import { recipientOf, SEED_KEY, snapshotOf } from '../testing/decision-kit.js';
import { idOf, NOW_US } from '../testing/strategy-kit.js';
import type { Decision } from '../pipeline/decision.js';
import { utcDay } from '../../capacity/index.js';
import type { PoolStanding } from '../standing/standing.js';
import { World } from './world.js';

const POOL = idOf(500);
const OTHER = idOf(501);
const DAY = utcDay(NOW_US);

/** A pool of recipients with these limits, of whom nothing is known. */
function poolOf(number: number, limits: readonly number[], fields: object = {}) {
  const recipients = limits.map((limit, index) => recipientOf(index + 1, { capacity: { max_concurrent: limit } }));
  const { view } = snapshotOf(number, fields, recipients);
  const members = new Map(
    recipients.map(({ id }) => {
      const account = { committed: 0, held: 0, dailyCommitted: 0, dailyAdmitted: 0, resetAtUs: null, day: DAY };
      return [id, { version: 1, account, learned: {} }];
    }),
  );
  const standing: PoolStanding = { version: 3, isKilled: false, members };
  return { view, standing };
}

function worldOf(...pools: readonly ReturnType<typeof poolOf>[]): World {
  return new World({
    views: new Map(pools.map(({ view }) => [view.id, view])),
    standing: { nowUs: NOW_US, pools: new Map(pools.map(({ view, standing }) => [view.id, standing])) },
    ...{ states: new Map(), bindings: new Map(), firsts: new Map(), seedKey: SEED_KEY },
  });
}

let ids = 0;

function decideIn(
  world: World,
  work: object = {},
  isGranting = true,
): Decision | { readonly missing: readonly string[] } {
  const routable = checkRoutable({ id: 'lead', ...work });
  const ask = { routable, poolId: POOL, recipientId: undefined, excluded: [], previous: [] };
  const decisionId = idOf(700_000 + (ids += 1));
  return world.decide({ ask, decisionId, firstPoolId: POOL, rules: [], isGranting, answers: new Map(), spentUs: 0 });
}

const outcomeOf = (answer: ReturnType<typeof decideIn>): string => ('missing' in answer ? 'missing' : answer.outcome);

describe('a world', () => {
  it('lets in as many as fit, and never more, whatever the limits and the strategy', () => {
    const limits = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 });
    const strategies = fc.constantFrom('round_robin', 'least_loaded', 'random', 'smooth_weighted_round_robin');
    fc.assert(
      fc.property(limits, strategies, fc.integer({ min: 1, max: 20 }), (all, strategy, count) => {
        const world = worldOf(poolOf(500, all, { strategy }));
        const outcomes = Array.from({ length: count }, () => outcomeOf(decideIn(world)));
        const room = all.reduce((sum, limit) => sum + limit, 0);
        expect(outcomes.filter((each) => each === 'assigned')).toHaveLength(Math.min(room, count));
        for (const { recipientId, account, lastAssignedUs } of world.changes().accounts) {
          expect(account.committed).toBeLessThanOrEqual(
            all[[1, 2, 3, 4].findIndex((n) => idOf(n) === recipientId)] ?? 0,
          );
          expect(lastAssignedUs).toBe(NOW_US);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is not changed by a preview, nor by what is not granted', () => {
    const world = worldOf(poolOf(500, [1], { strategy: 'round_robin' }));
    expect(outcomeOf(decideIn(world, {}, false))).toBe('assigned');
    expect(world.changes()).toEqual({ accounts: [], states: new Map(), bindings: [], firsts: [], probes: [] });
    decideIn(world);
    const after = JSON.stringify(world.changes().accounts);
    expect(outcomeOf(decideIn(world))).toBe('no_eligible_recipient');
    expect(JSON.stringify(world.changes().accounts)).toBe(after);
  });

  it('names the pool that has to be read first when a fallback leads there', () => {
    const fields = { config: { fallback: { kind: 'overflow' }, overflow_pool_id: OTHER } };
    const full = poolOf(500, [1], fields);
    const world = worldOf(full);
    decideIn(world);
    expect(decideIn(world)).toEqual({ missing: [OTHER] });
    const both = worldOf(full, poolOf(501, [1, 1]));
    expect([decideIn(both), decideIn(both), decideIn(both)].map(outcomeOf)).toEqual([
      ...['assigned', 'assigned', 'no_eligible_recipient'],
    ]);
  });

  it('lets an offer take nothing, and tells work that comes twice', () => {
    const world = worldOf(poolOf(500, [1], { config: { requires_acceptance: true, dedupe: { window: '1h' } } }));
    expect(['a', 'b', 'a'].map((key) => outcomeOf(decideIn(world, { dedupe_key: key })))).toEqual([
      ...['offered', 'offered', 'duplicate'],
    ]);
    const { accounts, firsts } = world.changes();
    expect(accounts).toMatchObject([{ account: { committed: 0 }, lastAssignedUs: NOW_US }]);
    expect(firsts.map(({ key, expiresUs }) => [key, expiresUs])).toEqual([
      ['a', NOW_US + 3_600_000_000],
      ['b', NOW_US + 3_600_000_000],
    ]);
  });
});
