import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDurationMs, parseDurationMs } from './duration.js';

describe('parseDurationMs', () => {
  it.each([
    ['2s', 2000],
    ['0s', 0],
    ['0.5s', 500],
    ['250ms', 250],
    ['1h30m', 5_400_000],
    ['7d', 604_800_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['0.007s', 7],
    ['0.0001s', 1],
    ['1.5ms', 2],
  ])('reads %s as %d ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each([
    '',
    '2',
    's',
    '-2s',
    '2 s',
    '2S',
    '1m1h',
    '1s1s',
    '2w',
    '1e3s',
    '.5s',
    '5.s',
    '99999999999999d',
    '1'.repeat(70) + 's',
  ])('refuses %j', (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });
});

describe('formatDurationMs', () => {
  it('writes what parseDurationMs reads', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 45 }), (ms) => {
        expect(parseDurationMs(formatDurationMs(ms))).toBe(ms);
      }),
    );
  });

  it('is short', () => {
    expect([0, 2000, 5_400_000, 300_000, 86_400_000].map(formatDurationMs)).toEqual(['0s', '2s', '1h30m', '5m', '1d']);
  });
});
