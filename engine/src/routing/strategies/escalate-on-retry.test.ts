import { describe, expect, it } from 'vitest';
import type { Candidate, Context, PoolState } from '../core/candidate.js';
import { candidateOf, contextOf, idOf, routableOf, strategyTree } from '../testing/strategy-kit.js';
import { afterCount, countsOf } from './outcome-counts.js';
import { select, type Selection } from './select.js';
import { NEVER_US } from './seat-key.js';

const LADDER = [0, 1, 2].map((tier) => candidateOf(tier + 1, { tier }));
const FAMILY = idOf(900);

function choose(
  fields: Partial<Context> & { readonly attempt?: number; readonly free?: readonly Candidate[] } = {},
  params: object = {},
): Selection {
  const { attempt = 0, free = LADDER, ...context } = fields;
  const strategy = strategyTree({ strategy: 'escalate_on_retry', params, of: ['waterfall'] });
  const routable = routableOf({ attributes: { retry_attempt: attempt } });
  const members = new Map(LADDER.map(({ id, tier }) => [id, tier]));
  return select(strategy, free, contextOf(free, { family: FAMILY, routable, members, ...context }));
}

const tierOf = ({ slate }: Selection): number | undefined => slate[0]?.tier;
const outcomes = (number: number, ...ends: readonly boolean[]): PoolState => {
  const members = new Set(LADDER.map(({ id }) => id));
  return ends.reduce<PoolState>(
    (state, isSuccess) => afterCount(state, { recipientId: idOf(number), isSuccess }, members),
    {},
  );
};
const reached = (tier: number): Pick<Context, 'bindings'> => ({
  bindings: new Map([[`tier/${FAMILY}`, { recipientId: idOf(tier + 1), expiresUs: NEVER_US, tier }]]),
});

describe('escalate_on_retry', () => {
  it('climbs a tier with each attempt, up to the highest, and remembers how high', () => {
    expect([0, 1, 2, 9].map((attempt) => tierOf(choose({ attempt })))).toEqual([0, 1, 2, 2]);
    expect(choose({ attempt: 1 }).changes).toMatchObject([{ bind: { key: `tier/${FAMILY}`, tier: 1, owner: FAMILY } }]);
  });

  it('begins and climbs as its pool says, by what the pool says is an attempt', () => {
    expect(tierOf(choose({ attempt: 1 }, { start: 1 }))).toBe(2);
    expect(tierOf(choose({ attempt: 1 }, { step: 2 }))).toBe(2);
    expect(tierOf(choose({ attempt: 2 }, { attempt: '0.0' }))).toBe(0);
    expect([-1, 0.9].map((attempt) => tierOf(choose({ attempt })))).toEqual([0, 0]);
  });

  it('never goes below what it has come to, as long as somebody there may be chosen', () => {
    expect(tierOf(choose(reached(2)))).toBe(2);
    expect(choose(reached(2)).changes).toEqual([]);
    const below = choose({ ...reached(2), free: LADDER.slice(0, 2) });
    expect([tierOf(below), below.changes]).toEqual([1, []]);
  });

  it('passes tiers that succeed too seldom once enough is known of them; else it takes the highest', () => {
    const params = { min_success_rate: 0.5, min_samples: 3 };
    expect(tierOf(choose({ state: outcomes(1, false, false) }, params))).toBe(0);
    expect(tierOf(choose({ state: outcomes(1, false, false, true) }, params))).toBe(1);
    expect(tierOf(choose({ state: outcomes(1, false, true, true, false) }, params))).toBe(0);
    const [first] = LADDER;
    const poor = { state: outcomes(1, false, false, false), free: first === undefined ? [] : [first] };
    expect(tierOf(choose(poor, params))).toBe(0);
    expect(choose({ free: [] }).slate).toEqual([]);
  });

  it('chooses within a tier by the other strategy, and passes only who is poor there', () => {
    const [first, second] = [candidateOf(1, { order: 0 }), candidateOf(2, { order: 1 })];
    const params = { min_success_rate: 0.5, min_samples: 1 };
    const chosen = choose({ free: [first, second], state: outcomes(1, false) }, params);
    expect(chosen.slate[0]?.id).toBe(idOf(2));
  });
});

describe('counts of outcomes', () => {
  it('are exact, halved when there are very many, and forgotten with a recipient that left', () => {
    const members = new Set([idOf(1), idOf(2)]);
    let state: PoolState = { root: { at: idOf(1) } };
    for (let times = 0; times < 10_001; times += 1) {
      state = afterCount(state, { recipientId: idOf(1), isSuccess: times % 4 !== 0 }, members);
      if (times === 9_999) expect(countsOf(state)(idOf(1))).toEqual({ samples: 10_000, successes: 7_500 });
    }
    expect(countsOf(state)(idOf(1))).toEqual({ samples: 5_000, successes: 3_750 });
    expect(state['root']).toEqual({ at: idOf(1) });
    const left = afterCount(state, { recipientId: idOf(2), isSuccess: true }, new Set([idOf(2)]));
    expect([countsOf(left)(idOf(1)).samples, countsOf(left)(idOf(2)).samples]).toEqual([0, 1]);
  });
});
