import { describe, expect, it } from 'vitest';
import { candidatesOf, chooseMany, contextOf, idOf, strategyNamed } from '../testing/strategy-kit.js';
import { select } from './select.js';

const roundRobin = strategyNamed('round_robin');

describe('round robin', () => {
  it('serves each once a round, in order of the ids', () => {
    const { winners } = chooseMany(roundRobin, candidatesOf(4), 8);
    expect(new Set(winners.slice(0, 4)).size).toBe(4);
    expect(winners.slice(4)).toEqual(winners.slice(0, 4));
  });

  it('skips and repeats nobody when somebody leaves or joins', () => {
    const [a, b, c, d] = candidatesOf(4);
    if (!a || !b || !c || !d) throw new TypeError('four');
    const state = { root: { at: b.id } };
    expect(chooseMany(roundRobin, [a, c, d], 1, { state }).winners).toEqual([c.id]);
    expect(chooseMany(roundRobin, [a, d], 1, { state }).winners).toEqual([d.id]);
    expect(chooseMany(roundRobin, [a], 1, { state }).winners).toEqual([a.id]);
  });

  it('does not begin with the first recipient in every pool', () => {
    const candidates = candidatesOf(8);
    const firsts = Array.from({ length: 64 }, (_, pool) => {
      return select(roundRobin, candidates, contextOf(candidates, { poolId: idOf(1000 + pool) })).slate[0]?.id;
    });
    expect(new Set(firsts).size).toBe(8);
  });

  it('goes on after the last of a slate', () => {
    const candidates = candidatesOf(5);
    const state = { root: { at: candidates[1]?.id ?? '' } };
    const { slate, changes } = select(roundRobin, candidates, contextOf(candidates, { state }), { slateSize: 3 });
    expect(slate.map(({ id }) => id)).toEqual([idOf(3), idOf(4), idOf(5)]);
    expect(changes).toEqual([{ key: 'root', state: { at: idOf(5) } }]);
  });
});
