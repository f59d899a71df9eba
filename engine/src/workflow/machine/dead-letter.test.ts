/** Which parked runs are one group. */
import { describe, expect, it } from 'vitest';
import { groupDeadLetters, type DeadLetter } from './dead-letter.js';

const letter = (change: Partial<DeadLetter>): DeadLetter => ({
  ...{ fingerprint: 'a', familySlug: 'f', step: 's', reason: 'attempts_exhausted', errorCode: 'e', message: 'm' },
  ...{ runId: 'r', parkedAtUs: 1, ...change },
});

describe('groups of dead letters', () => {
  it('have their count, when they came first and last, and the last one as the example, in any order', () => {
    const letters = [
      letter({ parkedAtUs: 5, runId: 'r5', message: 'm5' }),
      letter({ parkedAtUs: 9, runId: 'r9', message: 'm9' }),
      letter({ parkedAtUs: 2, runId: 'r2', message: 'm2' }),
    ];
    for (const order of [letters, letters.toReversed()]) {
      expect(groupDeadLetters(order)).toEqual([
        expect.objectContaining({ count: 3, firstParkedAtUs: 2, lastParkedAtUs: 9, runId: 'r9', message: 'm9' }),
      ]);
    }
  });

  it('come by their size, then by their fingerprints', () => {
    const found = groupDeadLetters(['c', 'b', 'a', 'c'].map((fingerprint) => letter({ fingerprint })));
    expect(found.map(({ fingerprint, count }) => [fingerprint, count])).toEqual([
      ['c', 2],
      ['a', 1],
      ['b', 1],
    ]);
    expect(groupDeadLetters([])).toEqual([]);
  });
});
