import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTimestampUs } from './rfc3339.js';

describe('parseTimestampUs', () => {
  it('agrees with the machine on every instant it can count', () => {
    const instants = fc.date({ min: new Date('1700-01-01'), max: new Date('2250-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(instants, (date) => {
        expect(parseTimestampUs(date.toISOString())).toBe(date.getTime() * 1000);
      }),
    );
  });

  it.each([
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01T01:00:00+01:00', 0],
    ['1969-12-31T19:00:00-05:00', 0],
    ['1970-01-01t00:00:01z', 1_000_000],
    ['1970-01-01 00:00:00.000001Z', 1],
    ['1970-01-01T00:00:00.0000001Z', 1],
    ['2024-02-29T00:00:00Z', 1_709_164_800_000_000],
  ])('reads %s', (text, us) => {
    expect(parseTimestampUs(text)).toBe(us);
  });

  it.each([
    '',
    '2024-01-01',
    '2024-01-01T00:00:00',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2024-04-31T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:60Z',
    '2024-01-01T00:00:00+24:00',
    '2024-01-01T00:00:00.Z',
    '9999-01-01T00:00:00Z',
  ])('refuses %j', (text) => {
    expect(parseTimestampUs(text)).toBeUndefined();
  });
});
