import { describe, expect, it } from 'vitest';
import { answerOf } from './asking.js';

const given = new Set(['a', 'b', 'c']);
const ranking = (...ids: string[]) => answerOf({ kind: 'ranking', ids, by: 'web-1' }, given);

describe('an answer of a strategy in code', () => {
  it('counts when it names candidates that were given, each once, or nobody', () => {
    expect(ranking('c', 'a')).toEqual({ ids: ['c', 'a'], note: 'by web-1' });
    expect(ranking()).toEqual({ ids: [], note: 'by web-1' });
  });

  it('does not count when it invents one, names one twice, or is none', () => {
    expect(ranking('a', 'x'.repeat(100))).toEqual({
      ids: undefined,
      note: `named "${'x'.repeat(64)}", which is no candidate`,
    });
    expect(ranking('a', 'b', 'a')).toEqual({ ids: undefined, note: 'named a candidate twice' });
    const why = 'did not answer within 500 ms';
    expect(answerOf({ kind: 'none', why }, given)).toEqual({ ids: undefined, note: why });
  });
});
