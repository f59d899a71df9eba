import { describe, expect, it } from 'vitest';
import type { Binding, Candidate, Context, RecipientFacts } from '../core/candidate.js';
import {
  candidateOf,
  candidatesOf,
  contextOf,
  idOf,
  NOW_US,
  routableOf,
  strategyTree,
} from '../testing/strategy-kit.js';
import { select, type Selection } from './select.js';
import { NEVER_US } from './seat-key.js';

const SEATS = candidatesOf(3);
const FAMILY = idOf(900);

function choose(candidates: readonly Candidate[], fields: Partial<Context> = {}, params: object = {}): Selection {
  const strategy = strategyTree({ strategy: 'seat_affinity', params, of: ['waterfall'] });
  return select(strategy, candidates, contextOf(candidates, { family: FAMILY, ...fields }));
}

const boundTo = (number: number, fields: Partial<Binding> = {}): Pick<Context, 'bindings'> => ({
  bindings: new Map([[`seat/${FAMILY}`, { recipientId: idOf(number), expiresUs: NEVER_US, ...fields }]]),
});

const winner = ({ slate }: Selection): string | undefined => slate[0]?.id;

describe('seat_affinity', () => {
  it('gives an owner a seat by the other strategy, and binds it without an end to a family', () => {
    const chosen = choose(SEATS);
    expect(winner(chosen)).toBe(idOf(1));
    const bind = { key: `seat/${FAMILY}`, owner: FAMILY, recipientId: idOf(1), expiresUs: NEVER_US };
    expect(chosen.changes).toEqual([{ bind }]);
  });

  it('gives it the same seat from then on, and keeps nothing for that', () => {
    const chosen = choose(SEATS, boundTo(3));
    expect([winner(chosen), chosen.changes]).toEqual([idOf(3), []]);
  });

  it('gives it another one when its own may not be chosen, or its time is over', () => {
    expect(winner(choose(SEATS.slice(0, 2), boundTo(3)))).toBe(idOf(1));
    expect(winner(choose(SEATS, boundTo(3, { expiresUs: NOW_US })))).toBe(idOf(1));
  });

  it('takes the id of work that no workflow selects for, or the key of the pool, for its owner; for a time', () => {
    const routable = routableOf({ id: 'turn-1', attributes: { run: 'r7' } });
    const of = (params: object, family?: string) => choose(SEATS, { family, routable }, params).changes[0]?.bind;
    const expiresUs = NOW_US + 60_000_000;
    expect(of({ ttl: '60s' })).toMatchObject({ owner: 'turn-1', expiresUs });
    const key = 'routable.attributes.run';
    expect(of({ ttl: '60s', key })).toMatchObject({ key: 'seat/r7', owner: 'r7', expiresUs });
    expect(of({ ttl: '60s', key }, FAMILY)).toMatchObject({ owner: 'r7', expiresUs });
  });

  it('binds nobody in particular to nothing', () => {
    const chosen = choose(SEATS, { family: undefined, routable: routableOf({ id: '' }) });
    expect([winner(chosen), chosen.changes]).toEqual([idOf(1), []]);
  });

  it('leaves a seat of weight 0 to those who have it', () => {
    const drained = [candidateOf(1, { weightMilli: 0, isKept: true }), candidateOf(2)];
    expect(winner(choose(drained, boundTo(1)))).toBe(idOf(1));
    expect(winner(choose(drained))).toBe(idOf(2));
  });

  it('says that a seat is tried that was limited, once', () => {
    const seat = (facts: Partial<RecipientFacts>) => [candidateOf(1, { facts })];
    const probes = (facts: Partial<RecipientFacts>, params: object = {}) =>
      choose(seat(facts), {}, params).changes.flatMap(({ probe }) => probe ?? []);
    const untilUs = NOW_US + 5_000_000;
    const params = { probe_timeout: '5s' };
    expect(probes({ limitEpisode: 1 }, params)).toEqual([{ recipientId: idOf(1), untilUs }]);
    expect(probes({ limitEpisode: 1, probeUntilUs: NOW_US }, params)).toHaveLength(1);
    expect(probes({ limitEpisode: 1, probeUntilUs: NOW_US + 1 }, params)).toEqual([]);
    expect(probes({}, params)).toEqual([]);
    expect(probes({ limitEpisode: 1 }, { recovery: 'at_once' })).toEqual([]);
  });
});
