import { describe, expect, it } from 'vitest';
import type { StrategyName } from '../../pools/index.js';
import {
  candidateOf,
  contextOf,
  idOf,
  NOW_US,
  routableOf,
  strategyNamed,
  strategyTree,
} from '../testing/strategy-kit.js';
import type { Candidate, Context } from '../core/candidate.js';
import { afterLatency } from './latency-ewma.js';
import { select } from './select.js';
import { bucketOf } from './sla-deadline.js';
import type { Strategy } from './strategy.js';

function order(strategy: Strategy, candidates: readonly Candidate[], fields: Partial<Context> = {}): readonly number[] {
  const { order: ranked } = select(strategy, candidates, contextOf(candidates, fields));
  return ranked.map(({ id }) => Number.parseInt(id.slice(-4), 16));
}

const named = (name: StrategyName, params: object = {}) => strategyNamed(name, params);

describe('loads', () => {
  it('compare with caps when all have one, else with weights', () => {
    const capped = [candidateOf(1, { load: 3, cap: 10 }), candidateOf(2, { load: 2, cap: 4 })];
    expect(order(named('least_loaded'), capped)).toEqual([1, 2]);
    expect(order(named('least_loaded', { mode: 'absolute' }), capped)).toEqual([2, 1]);
    expect(order(named('least_loaded', { mode: 'spare' }), capped)).toEqual([1, 2]);
    const open = [candidateOf(1, { load: 3, cap: 10 }), candidateOf(2, { load: 4, weightMilli: 2000 })];
    expect(order(named('least_loaded'), open)).toEqual([2, 1]);
  });

  it('count one more for least_request, and weigh more by a bias', () => {
    const candidates = [candidateOf(1, { load: 0 }), candidateOf(2, { load: 2, weightMilli: 4000 })];
    expect(order(named('least_request'), candidates)).toEqual([2, 1]);
    expect(order(named('least_request', { bias: 2 }), candidates)).toEqual([1, 2]);
    expect(order(named('least_request', { bias: 0 }), candidates)).toEqual([2, 1]);
  });

  it('that are equal leave it to who waits longest, then to the dice: not to the first of the list', () => {
    const waits = [
      candidateOf(1, { facts: { lastAssignedUs: 9 } }),
      candidateOf(2, { facts: { lastAssignedUs: 4 } }),
      candidateOf(3),
    ];
    expect(order(named('least_loaded'), waits)).toEqual([3, 2, 1]);
    const equals = [candidateOf(1), candidateOf(2), candidateOf(3)];
    const firsts = new Set(
      Array.from({ length: 40 }, (_, dice) => order(named('least_loaded'), equals, contextOf(equals, { dice }))[0]),
    );
    expect(firsts.size).toBe(3);
  });
});

describe('moments', () => {
  it.each([
    ['assigned', 'lastAssignedUs'],
    ['idle', 'lastReleasedUs'],
    ['inbound', 'lastInboundUs'],
  ])('by the clock %s: the oldest first, never before all', (clock, field) => {
    const candidates = [
      candidateOf(1, { facts: { [field]: 50 } }),
      candidateOf(2),
      candidateOf(3, { facts: { [field]: 7 } }),
    ];
    expect(order(named('least_recently_assigned', { clock }), candidates)).toEqual([2, 3, 1]);
  });
});

describe('costs', () => {
  const costs = [
    candidateOf(1, { costMicros: 103n, load: 1 }),
    candidateOf(2, { costMicros: 100n, load: 2 }),
    candidateOf(3),
  ];
  it('put the cheapest first and the unpriced last', () => {
    expect(order(named('lowest_cost'), costs)).toEqual([2, 1, 3]);
  });
  it('within the tolerance are equal', () => {
    expect(order(named('lowest_cost', { tolerance_bps: 300 }), costs)).toEqual([1, 2, 3]);
  });
});

describe('latencies', () => {
  it('jump at a peak, come down by half-life, and double for failures', () => {
    const first = afterLatency({}, { atUs: 0, latencyUs: 100_000, isSuccess: true });
    expect(first).toEqual({ latencyUs: 100_000, latencyAtUs: 0 });
    const faster = afterLatency(first, { atUs: 10_000_000, latencyUs: 20_000, isSuccess: true });
    expect(faster).toEqual({ latencyUs: 60_000, latencyAtUs: 10_000_000 });
    expect(afterLatency(faster, { atUs: 10_000_001, latencyUs: 10, isSuccess: false }).latencyUs).toBe(120_000);
  });

  it('times the work in hand decide, and who was never asked counts as slow at first', () => {
    const candidates = [
      candidateOf(1, { facts: { latencyUs: 300_000, latencyAtUs: NOW_US }, load: 1 }),
      candidateOf(2, { facts: { latencyUs: 500_000, latencyAtUs: NOW_US } }),
      candidateOf(3),
      candidateOf(4, { facts: { inRotationSinceUs: NOW_US - 60_000_000 } }),
    ];
    expect(order(named('latency_ewma', { pick: 'min' }), candidates)).toEqual([4, 2, 1, 3]);
  });
});

describe('skills', () => {
  const skilled = [
    candidateOf(1, { skills: new Map([['solar', 5]]) }),
    candidateOf(2, {
      skills: new Map([
        ['solar', 2],
        ['spanish', 4],
      ]),
    }),
    candidateOf(3, { skills: new Map([['spanish', 5]]) }),
  ];
  const params = {
    required: [{ name: 'solar', min_level: 3 }, { name: 'spanish' }],
    preferred: [{ name: 'spanish', weight: 2 }],
    rings: [
      { after: '60s', drop: ['spanish'] },
      { after: '5m', drop: ['solar'] },
    ],
  };
  it('are asked for ring by ring', () => {
    const after = (seconds: number) =>
      order(named('skills_match', params), skilled, {
        routable: routableOf({ receivedUs: NOW_US - seconds * 1_000_000 }),
      });
    expect(after(0)).toEqual([]);
    expect(after(60)).toEqual([1]);
    expect(after(300)).toEqual([3, 2, 1]);
  });
});

describe('deadlines', () => {
  const responses = (bucket: number) => Array.from({ length: 32 }, (_, index) => (index === bucket ? 10 : 0));
  const candidates = [
    candidateOf(1, { facts: { responses: responses(bucketOf(60_000)) } }),
    candidateOf(2, { facts: { responses: responses(bucketOf(2000)) } }),
    candidateOf(3, { facts: { responses: responses(bucketOf(2000)), latencyUs: 30_000_000 }, load: 1 }),
  ];
  it('rank by headroom and drop those who cannot keep them', () => {
    expect(order(named('sla_deadline', { within: '20s' }), candidates)).toEqual([2]);
    expect(order(named('sla_deadline', { within: '5m' }), candidates)).toEqual([2, 3, 1]);
  });
  it('that nobody can keep are said to be missed', () => {
    const { ranking, order: all } = select(named('sla_deadline', { within: '1s' }), candidates, contextOf(candidates));
    expect(ranking.notes).toContain('breach_predicted');
    expect(all).toHaveLength(3);
    expect(order(named('sla_deadline', { within: '1s', when_none: 'empty' }), candidates)).toEqual([]);
  });
  it('put times into buckets by powers of two', () => {
    expect([0, 1, 2, 3, 4, 1023, 1024, 1e12].map(bucketOf)).toEqual([0, 0, 1, 1, 2, 9, 10, 31]);
  });
});

describe('scores', () => {
  const scored = [
    candidateOf(1, { attributes: { level: 2 } }),
    candidateOf(2),
    candidateOf(3, { attributes: { level: 5 } }),
  ];
  it('leave out whom they fail on, and those below the least', () => {
    const { order: ranked, ranking } = select(
      named('score', { expr: 'recipient.attributes.level', min_score: 3 }),
      scored,
      contextOf(scored),
    );
    expect(ranked.map(({ id }) => id)).toEqual([idOf(3)]);
    expect(ranking.excluded?.map(([{ id }, why]) => [id, why])).toEqual([
      [idOf(1), 'below_min_score'],
      [idOf(2), 'score_error'],
    ]);
  });
  it('may be the least, and may fail the choice', () => {
    expect(order(named('score', { expr: 'recipient.attributes.level', direction: 'min' }), scored)).toEqual([1, 3]);
    expect(() => order(named('score', { expr: 'recipient.attributes.level', on_error: 'fail' }), scored)).toThrow(
      /score of recipient/,
    );
  });
});

describe('strategies in code', () => {
  const candidates = [candidateOf(1), candidateOf(2), candidateOf(3)];
  const custom = strategyTree({ strategy: 'custom', params: { name: 'nearest' } });
  it('choose among the candidates only', () => {
    const answers = new Map([['nearest', { ids: [idOf(9), idOf(3), idOf(1), idOf(3)], note: 'by a worker' }]]);
    expect(order(custom, candidates, { answers })).toEqual([3, 1]);
  });
  it('may say that nobody fits', () => {
    const answers = new Map([['nearest', { ids: [], note: 'by a worker' }]]);
    expect(order(custom, candidates, { answers })).toEqual([]);
  });
  it('that do not answer give way to the strategy beside them, and the explanation says so', () => {
    const { ranking, slate } = select(custom, candidates, contextOf(candidates));
    expect(slate).toHaveLength(1);
    expect(ranking.notes).toEqual(['nearest was not asked: round_robin instead']);
    const answers = new Map([['nearest@2', { ids: undefined, note: 'did not answer within 500 ms' }]]);
    const tree = { strategy: 'custom', params: { name: 'nearest', version: '2' }, of: ['waterfall'] };
    const other = select(strategyTree(tree), candidates, contextOf(candidates, { answers }));
    expect(other.slate.map(({ id }) => id)).toEqual([idOf(1)]);
    expect(other.ranking.notes).toEqual(['nearest@2 did not answer within 500 ms: waterfall instead']);
  });
});
