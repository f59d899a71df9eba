import { describe, expect, it } from 'vitest';
import type { Candidate, Context } from '../core/candidate.js';
import {
  candidateOf,
  candidatesOf,
  chooseMany,
  contextOf,
  countsOf,
  idOf,
  NOW_US,
  routableOf,
  strategyNamed,
  strategyTree,
} from '../testing/strategy-kit.js';
import { slowStartWeight } from './combinators.js';
import { select } from './select.js';

function chosen(tree: unknown, candidates: readonly Candidate[], fields: Partial<Context> = {}) {
  const selection = select(strategyTree(tree), candidates, contextOf(candidates, fields));
  return { ...selection, ids: selection.order.map(({ id }) => Number.parseInt(id.slice(-4), 16)) };
}

describe('priority', () => {
  it('serves the lowest tier that has anybody, then the next', () => {
    const candidates = [
      candidateOf(1, { tier: 2 }),
      candidateOf(2, { tier: 1, order: 1 }),
      candidateOf(3, { tier: 1 }),
    ];
    expect(chosen({ strategy: 'priority', of: ['waterfall'] }, candidates).ids).toEqual([3, 2, 1]);
  });
  it('keeps the state of the winner’s tier only', () => {
    const candidates = [candidateOf(1, { tier: 1 }), candidateOf(2, { tier: 1 }), candidateOf(3, { tier: 2 })];
    const { changes } = chosen({ strategy: 'priority', of: ['round_robin'] }, candidates);
    expect(changes.map(({ key }) => key)).toEqual(['root/1']);
  });
  it('spills what a part of a tier cannot take', () => {
    const all = [...candidatesOf(10, () => ({ tier: 0 })), candidateOf(11, { tier: 1 })];
    const half = [...all.slice(0, 5), ...all.slice(10)];
    const members = new Map(all.map(({ id, tier }) => [id, tier]));
    const strategy = strategyNamed('priority', { spill: 'unhealthy_fraction' });
    const tiers = Array.from(
      { length: 1000 },
      (_, dice) => select(strategy, half, contextOf(half, { dice, members })).slate[0]?.tier,
    );
    // Half of the members, times 1.4: 70 of 100.
    expect(tiers.filter((tier) => tier === 0).length).toBeGreaterThan(640);
    expect(tiers.filter((tier) => tier === 0).length).toBeLessThan(760);
  });
});

describe('sticky', () => {
  const candidates = candidatesOf(3);
  const tree = (on_ineligible: string) => ({
    strategy: 'sticky',
    params: { key: 'routable.id', on_ineligible },
    of: ['round_robin'],
  });
  const bound = (number: number, expiresUs = NOW_US + 1) =>
    new Map([['lead-7', { recipientId: idOf(number), expiresUs }]]);
  it('binds whom it chose, for as long as it says', () => {
    const { changes, slate } = chosen(tree('rebind'), candidates);
    expect(changes.at(-1)?.bind).toEqual({
      key: 'lead-7',
      recipientId: slate[0]?.id,
      expiresUs: NOW_US + 3_600_000_000,
    });
  });
  it('puts the bound one first, unless the binding has expired', () => {
    expect(chosen(tree('rebind'), candidates, { bindings: bound(2) }).ids[0]).toBe(2);
    const expired = chosen(tree('rebind'), candidates, { bindings: bound(2, NOW_US) });
    expect(expired.ranking.notes).toContain('binds');
  });
  it('never makes anybody eligible; it binds anew, keeps, or waits', () => {
    const bindings = bound(9);
    expect(chosen(tree('rebind'), candidates, { bindings }).changes.some(({ bind }) => bind !== undefined)).toBe(true);
    expect(chosen(tree('fallback_keep'), candidates, { bindings }).changes.some(({ bind }) => bind !== undefined)).toBe(
      false,
    );
    expect(chosen(tree('wait'), candidates, { bindings }).slate).toEqual([]);
  });
});

describe('slates', () => {
  const candidates = candidatesOf(4, (index) => ({ load: index, attributes: { region: index < 2 ? 'eu' : 'us' } }));
  it('take the first k', () => {
    expect(chosen({ strategy: 'top_k', params: { k: 2 }, of: ['least_loaded'] }, candidates).slate).toHaveLength(2);
  });
  it('take no two of one region when they are to differ', () => {
    const { slate } = chosen(
      { strategy: 'top_k', params: { k: 3, diversity: 'region' }, of: ['least_loaded'] },
      candidates,
    );
    expect(slate.map(({ id }) => id)).toEqual([idOf(1), idOf(3)]);
  });
  it('are nobody when exactly k are asked for and there are fewer', () => {
    expect(chosen({ strategy: 'top_k', params: { k: 5, require: 'exact' }, of: ['random'] }, candidates).slate).toEqual(
      [],
    );
  });
});

describe('split', () => {
  it('gives each share its part of the keys, and a key always the same', () => {
    const tree = { strategy: 'split', params: { bps: [9000, 1000] }, of: ['waterfall', 'waterfall'] };
    const candidates = candidatesOf(1);
    const arms = Array.from(
      { length: 2000 },
      (_, key) => chosen(tree, candidates, { routable: routableOf({ id: `k${key}` }) }).ranking.notes?.[0],
    );
    const second = countsOf(arms.map(String)).get('arm 1') ?? 0;
    expect(second).toBeGreaterThan(140);
    expect(second).toBeLessThan(265);
    expect(chosen(tree, candidates, { routable: routableOf({ id: 'k1' }) }).ranking.notes?.[0]).toBe(arms[1]);
  });
});

describe('strategies of strategies', () => {
  const candidates = candidatesOf(4, (index) => ({ load: index % 2, tier: index }));
  it('tie: the second decides among equals, and only it remembers its choice', () => {
    const { ids, changes } = chosen({ strategy: 'tie', of: ['least_loaded', 'round_robin'] }, candidates);
    expect(new Set(ids.slice(0, 2))).toEqual(new Set([1, 3]));
    expect(changes.map(({ key }) => key)).toEqual(['root/1']);
  });
  it('tie with a stateful first: its counts stay exact', () => {
    const tie = strategyTree({ strategy: 'tie', of: ['smooth_weighted_round_robin', 'random'] });
    const weighted = candidatesOf(3, (index) => ({ weightMilli: (index + 1) * 1000 }));
    const counts = countsOf(chooseMany(tie, weighted, 60).winners);
    expect(weighted.map(({ id }) => counts.get(id))).toEqual([10, 20, 30]);
  });
  it('prefer: those that match first', () => {
    expect(
      chosen({ strategy: 'prefer', params: { when: 'recipient.tier == 2' }, of: ['waterfall'] }, candidates).ids[0],
    ).toBe(3);
  });
  it('restrict: only those that match; why the others are out is said', () => {
    const when = 'recipient.attributes.level > 1.0';
    const some = [
      candidateOf(1, { attributes: { level: 1 } }),
      candidateOf(2, { attributes: { level: 2 } }),
      candidateOf(3),
    ];
    const { ids, ranking } = chosen({ strategy: 'restrict', params: { when }, of: ['random'] }, some);
    expect(ids).toEqual([2]);
    expect(ranking.excluded?.map(([, why]) => why)).toEqual(['rule_false', 'rule_error']);
  });
  it('chain: the next one when one finds nobody', () => {
    const nobody = { strategy: 'restrict', params: { when: 'false' }, of: ['random'] };
    const { ids, ranking } = chosen({ strategy: 'chain', of: [nobody, 'waterfall'] }, candidates);
    expect(ids).toEqual([1, 2, 3, 4]);
    expect(ranking.notes).toContain('link 1');
  });
  it('weighted_sum: places count by weight', () => {
    const some = [
      candidateOf(1, { load: 0, costMicros: 9n }),
      candidateOf(2, { load: 1, costMicros: 5n }),
      candidateOf(3, { load: 2, costMicros: 1n }),
    ];
    const sum = (weights_bps: number[]) =>
      chosen({ strategy: 'weighted_sum', params: { weights_bps }, of: ['least_loaded', 'lowest_cost'] }, some).ids;
    expect(sum([9000, 1000])).toEqual([1, 2, 3]);
    expect(sum([1000, 9000])).toEqual([3, 2, 1]);
  });
  it('exclude_previous: not the last ones, unless they are all', () => {
    const tree = { strategy: 'exclude_previous', params: { count: 2 }, of: ['waterfall'] };
    expect(chosen(tree, candidates, { previous: [idOf(2), idOf(1), idOf(3)] }).ids).toEqual([3, 4]);
    const two = candidates.slice(0, 2);
    expect(chosen(tree, two, { previous: [idOf(2), idOf(1)] }).ids).toEqual([1, 2]);
  });
  it('slow_start: a newcomer gets a tenth, then more and more, and is answered as it was given', () => {
    expect([0, 5, 50, 99, 100, 500].map((at) => slowStartWeight(1000, at, 100, 10))).toEqual([
      100, 100, 500, 990, 1000, 1000,
    ]);
    const fresh = candidatesOf(2, (index) => (index === 0 ? {} : { facts: { inRotationSinceUs: NOW_US } }));
    const tree = strategyTree({
      strategy: 'slow_start',
      params: { window: '1d' },
      of: ['smooth_weighted_round_robin'],
    });
    const { winners, last } = chooseMany(tree, fresh, 110);
    expect(countsOf(winners).get(idOf(2))).toBe(10);
    expect(last?.order.every((each) => fresh.includes(each))).toBe(true);
  });
});
