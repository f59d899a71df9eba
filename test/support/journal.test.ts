import { describe, expect, it } from 'vitest';
import { contradictions, type RunFacts } from './journal.js';

const sound: RunFacts = {
  runId: 'r',
  closed: 'COMPLETED',
  closings: 1,
  seqs: [1, 2, 3],
  scheduled: new Map([
    ['a/1', 1],
    ['a/2', 1],
  ]),
  outcomes: new Map([
    ['a/1', 1],
    ['a/2', 1],
  ]),
  parked: '',
};

describe('contradictions', () => {
  it('finds none in a sound run, closed or open', () => {
    expect(contradictions([sound])).toEqual([]);
    expect(contradictions([{ ...sound, closed: '', closings: 0, outcomes: new Map([['a/1', 1]]) }])).toEqual([]);
  });

  it.each([
    { change: { outcomes: new Map([...sound.outcomes, ['a/2', 2]]) }, what: 'run r: attempt a/2 has 2 outcomes' },
    { change: { outcomes: new Map([['a/1', 1]]) }, what: 'run r: attempt a/2 has no outcome' },
    {
      change: { scheduled: new Map([...sound.scheduled, ['a/1', 2]]) },
      what: 'run r: attempt a/1 was scheduled 2 times',
    },
    { change: { closings: 2 }, what: 'run r: closed 2 times' },
    { change: { seqs: [1, 3] }, what: 'run r: rows 1,3 have a gap' },
  ])('says "$what"', ({ change, what }) => {
    expect(contradictions([{ ...sound, ...change }])).toEqual([what]);
  });
});
