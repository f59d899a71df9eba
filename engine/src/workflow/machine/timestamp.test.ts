import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTimestampUs } from '../../kernel/index.js';
import { CASES } from '../testing/random-plan.js';
import { formatTimestampUs, storableUs } from './timestamp.js';

describe('formatTimestampUs', () => {
  it.each([
    [0, '1970-01-01T00:00:00Z'],
    [-1, '1969-12-31T23:59:59.999999Z'],
    [951_782_400_000_000, '2000-02-29T00:00:00Z'],
    [1_767_225_599_250_000, '2025-12-31T23:59:59.25Z'],
    [Number.MAX_SAFE_INTEGER, '2255-06-05T23:47:34.740991Z'],
  ])('%d is %s', (us, text) => {
    expect(formatTimestampUs(us)).toBe(text);
  });

  it('says what the platform says, and reads back as it was', () => {
    const property = fc.property(fc.integer({ min: -9e15, max: Number.MAX_SAFE_INTEGER }), (us) => {
      const text = formatTimestampUs(us);
      expect(new Date(Math.floor(us / 1000)).toISOString().slice(0, 19)).toBe(text.slice(0, 19));
      expect(parseTimestampUs(text)).toBe(us);
    });
    fc.assert(property, CASES);
  });
});

describe('storableUs', () => {
  it('rounds up, and stays within what can be counted', () => {
    expect([1.25, 7, 0, -3, Number.NaN, Infinity].map(storableUs)).toEqual([2, 7, 1, 1, 1, Number.MAX_SAFE_INTEGER]);
  });
});
