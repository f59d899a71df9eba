import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Candidate } from '../core/candidate.js';
import {
  anyCandidates,
  candidatesOf,
  chooseMany,
  contextOf,
  countsOf,
  idOf,
  STRATEGIES,
  TREES,
} from '../testing/strategy-kit.js';
import { afterChanges, select } from './select.js';

const ALL = [...STRATEGIES, ...TREES];
const RUNS = { numRuns: 500 };

function idsOf(candidates: readonly Candidate[]): readonly string[] {
  return candidates.map(({ id }) => id);
}

/** Objects of one meaning in another order of keys and with other identities. */
function copyOf(candidate: Candidate): Candidate {
  return { ...candidate, facts: { ...candidate.facts } };
}

describe.each(ALL)('%s', (_, strategy) => {
  it('ranks nobody it was not given, nobody twice, nobody of weight 0', () => {
    fc.assert(
      fc.property(anyCandidates, fc.nat(), (candidates, dice) => {
        const answers = new Map([['mine', { ids: [idOf(3), idOf(3), 'invented', idOf(1)], note: '' }]]);
        const { order, slate } = select(strategy, candidates, contextOf(candidates, { dice, answers }));
        const eligible = new Set(candidates.filter(({ weightMilli }) => weightMilli > 0));
        expect(order.every((each) => eligible.has(each))).toBe(true);
        expect(new Set(order).size).toBe(order.length);
        expect(slate.length).toBeLessThanOrEqual(order.length);
      }),
      RUNS,
    );
  });

  it('depends on nothing but its arguments: the same choice from equal ones, in the order of ids', () => {
    fc.assert(
      fc.property(anyCandidates, fc.nat(), (candidates, dice) => {
        const first = select(strategy, candidates, contextOf(candidates, { dice }));
        const shuffled = candidates.toReversed().map(copyOf);
        const sorted = shuffled.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        const second = select(strategy, sorted, contextOf(shuffled, { dice }));
        expect(idsOf(second.order)).toEqual(idsOf(first.order));
        expect(second.changes).toEqual(first.changes);
      }),
      RUNS,
    );
  });

  it('goes on after a restart at every pick as if there had been none', () => {
    fc.assert(
      fc.property(anyCandidates, fc.nat({ max: 1_000_000 }), (candidates, dice) => {
        const through = chooseMany(strategy, candidates, 3, { dice });
        const restarted = chooseMany(strategy, candidates, 3, { dice, isRestarting: true });
        expect(restarted.winners).toEqual(through.winners);
        expect(restarted.state).toEqual(through.state);
      }),
      RUNS,
    );
  });

  it('changes neither candidates nor state in place', () => {
    fc.assert(
      fc.property(anyCandidates, fc.nat(), (candidates, dice) => {
        const frozen = candidates.map((each) => Object.freeze(each));
        const first = select(strategy, Object.freeze(frozen), contextOf(frozen, { dice }));
        const state = Object.freeze(afterChanges({}, first.changes));
        const before = JSON.stringify(state);
        select(strategy, frozen, contextOf(frozen, { dice: dice + 1, state }));
        expect(JSON.stringify(state)).toBe(before);
      }),
      RUNS,
    );
  });
});

describe('fair strategies', () => {
  it.each([['round_robin'], ['smooth_weighted_round_robin'], ['fair_share'], ['weighted_round_robin']])(
    '%s: Jain index of at least 0.99 after 1,000 picks of equal weights, with a restart at every pick',
    (name) => {
      const strategy = STRATEGIES.find(([each]) => each === name)?.[1];
      const candidates = candidatesOf(7);
      if (strategy === undefined) throw new TypeError(name);
      const { winners } = chooseMany(strategy, candidates, 1000, { isRestarting: true });
      const counts = [...countsOf(winners).values()];
      const sum = counts.reduce((total, count) => total + count, 0);
      const squares = counts.reduce((total, count) => total + count ** 2, 0);
      expect(sum ** 2 / (7 * squares)).toBeGreaterThanOrEqual(0.99);
    },
  );
});
