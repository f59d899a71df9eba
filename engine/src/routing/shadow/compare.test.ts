import { describe, expect, it } from 'vitest';
import { decide } from '../pipeline/decide.js';
import { deriveSeed } from '../core/stream.js';
import {
  admitting,
  compiler,
  inputOf,
  randomDecisions,
  recipientOf,
  SEED_KEY,
  snapshotOf,
} from '../testing/decision-kit.js';
import { idOf } from '../testing/strategy-kit.js';
import { compareShadow, isComparable, jaccardMilli, kendallTauMilli } from './compare.js';
import { isSampled, shadowsOf, type Shadow } from './shadow.js';

const seed = deriveSeed(SEED_KEY, { decisionId: 'd', poolId: 'shadow', hop: 0, attempt: 0 });

/** A shadow as a pool configures it. */
function shadowOf(choice: object): Shadow {
  const [shadow] = shadowsOf({ shadow: choice }, compiler);
  if (shadow === undefined) throw new RangeError('no shadow');
  return shadow;
}

const recipients = [
  recipientOf(1, { order: 1, cost_micros: '500', currency: 'EUR' }),
  recipientOf(2, { order: 2, cost_micros: '300', currency: 'EUR', capacity: { max_concurrent: 9 } }),
  recipientOf(3, { order: 3, cost_micros: '400', currency: 'EUR' }),
];

function compared(choice: object, facts = {}, config: object = {}) {
  const snapshot = snapshotOf(500, { strategy: 'waterfall', config }, recipients, { facts });
  const input = inputOf([snapshot], { poolId: idOf(500), admit: admitting([snapshot], {}) });
  const decision = decide(input);
  const [hop] = decision.hops;
  if (hop === undefined || !isComparable(hop)) throw new RangeError('nothing to compare');
  return compareShadow(decision, hop, shadowOf(choice), { state: {}, seed });
}

describe('a shadow', () => {
  it('is compared by winner, places, cost and load', () => {
    const facts = { 1: { committed: 4 }, 2: { committed: 1 } };
    expect(compared({ strategy: 'lowest_cost' }, facts)).toMatchObject({
      ...{ ranking: [idOf(2), idOf(3), idOf(1)], liveWinner: idOf(1), shadowWinner: idOf(2), agrees: false },
      ...{ liveRankInShadow: 3, shadowRankInLive: 2, jaccardMilli: 1000, kendallTauMilli: -333 },
      ...{ liveCostMicros: 500n, shadowCostMicros: 300n, loadDelta: -3, wouldFallBack: false },
      ...{ liveHeadroomUs: undefined, error: undefined },
    });
    expect(compared({ strategy: 'waterfall' })).toMatchObject({ agrees: true, kendallTauMilli: 1000, loadDelta: 0 });
  });

  it('is compared by the deadline where the pool has one', () => {
    const facts = { 1: { committed: 3, latencyUs: 40_000_000 }, 2: { latencyUs: 1_000_000 } };
    const { liveHeadroomUs = 0, shadowHeadroomUs = 0 } = compared({ strategy: 'least_loaded' }, facts, {
      sla: { first_response_within: '60s' },
    });
    expect(liveHeadroomUs).toBeLessThan(0);
    expect(shadowHeadroomUs).toBeGreaterThan(0);
  });

  it('that chooses nobody would have fallen back, and one that fails says why', () => {
    const nobody = { strategy_tree: { strategy: 'restrict', params: { when: 'recipient.tier > 5' }, of: ['random'] } };
    const fallback = { fallback: { kind: 'retry', delay: '5s' } };
    expect(compared(nobody, {}, fallback)).toMatchObject({ shadowWinner: undefined, wouldFallBack: true });
    expect(compared(nobody)).toMatchObject({ shadowWinner: undefined, wouldFallBack: false, agrees: false });
    const failing = {
      strategy_tree: { strategy: 'score', params: { expr: 'recipient.attributes.missing', on_error: 'fail' } },
    };
    expect(compared(failing)).toMatchObject({
      shadowWinner: undefined,
      error: expect.stringMatching(/^expression_failed/),
    });
  });

  it('of the same strategy, state and dice agrees with what was decided, whatever the strategy', () => {
    let [same, all] = [0, 0];
    for (const input of randomDecisions(40, 5)) {
      const decision = decide(input);
      for (const hop of decision.hops) {
        if (!isComparable(hop) || hop.reason !== undefined) continue;
        const { compiled } = hop.snapshot.view;
        const own = { state: hop.snapshot.state, seed: hop.attempts.at(-1)?.moment.seed ?? seed };
        const comparison = compareShadow(decision, hop, { ...shadowOf({ strategy: 'random' }), compiled }, own);
        all += 1;
        if (comparison.liveWinner === comparison.shadowWinner) same += 1;
      }
    }
    expect(all).toBeGreaterThan(50);
    expect(same).toBe(all);
  });

  it('is asked about its share of the decisions, the same ones everywhere, until its end', () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => idOf(index));
    const tenth = shadowOf({ strategy: 'random', sample_bps: 1000 });
    const sampled = ids.filter((id) => isSampled(tenth, id, 0)).length;
    expect(sampled).toBeGreaterThan(880);
    expect(sampled).toBeLessThan(1120);
    const ended = shadowOf({ strategy: 'random', until: '2026-01-01T00:00:00Z' });
    expect(ended.id).toBe(tenth.id);
    const endUs = Date.parse('2026-01-01T00:00:00Z') * 1000;
    expect([endUs - 1, endUs].map((us) => isSampled(ended, idOf(1), us))).toEqual([true, false]);
  });
});

describe('rankings', () => {
  it('are compared by what their first five have in common', () => {
    expect(jaccardMilli(['a', 'b'], ['b', 'a'])).toBe(1000);
    expect(jaccardMilli(['a', 'b', 'c'], ['a', 'd', 'e'])).toBe(200);
    expect(jaccardMilli([], [])).toBe(1000);
    expect(jaccardMilli(['a'], [])).toBe(0);
  });

  it('are compared by the order of pairs', () => {
    expect(kendallTauMilli(['a', 'b', 'c', 'd'], ['a', 'b', 'c', 'd'])).toBe(1000);
    expect(kendallTauMilli(['a', 'b', 'c', 'd'], ['d', 'c', 'b', 'a'])).toBe(-1000);
    expect(kendallTauMilli(['a', 'b', 'c'], ['x', 'b', 'a', 'c'])).toBe(333);
    expect(kendallTauMilli(['a'], ['a'])).toBeUndefined();
  });
});
