import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toJsonValue } from './index.js';
import { CelDuration, CelMap, CelTimestamp, CelTypeName, CelUint } from './values/values.js';

describe('toJsonValue', () => {
  it.each<[string, unknown, unknown]>([
    ['an int', 42n, 42],
    ['the greatest int JSON holds', 9007199254740991n, 9007199254740991],
    ['a uint', new CelUint(7n), 7],
    ['negative zero', -0, 0],
    ['a Date', new Date('2026-03-01T09:00:00.500Z'), '2026-03-01T09:00:00.5Z'],
    ['a timestamp', new CelTimestamp(1n), '1970-01-01T00:00:00.000000001Z'],
    ['a timestamp before 1970', new CelTimestamp(-1n), '1969-12-31T23:59:59.999999999Z'],
    ['a duration', new CelDuration(1_500_000_000n), '1.5s'],
    ['a negative duration', new CelDuration(-1_500_000_000n), '-1.5s'],
    ['no duration', new CelDuration(0n), '0s'],
    ['bytes', new Uint8Array([104, 105]), 'aGk='],
    ['a list', [1n, [new CelUint(2n)], null], [1, [2], null]],
  ])('%s', (_name, value, expected) => {
    expect(toJsonValue(value)).toEqual(expected);
  });

  it('makes text of the keys of maps', () => {
    const map = new CelMap();
    map.add('a', 1n);
    map.add(2n, 'b');
    map.add(true, new CelUint(3n));
    map.add('__proto__', 4n);
    expect(JSON.stringify(toJsonValue(map))).toBe('{"2":"b","a":1,"true":3,"__proto__":4}');
  });

  it.each<[string, unknown, string]>([
    ['an int beyond 2^53 - 1', 9007199254740992n, 'beyond 2^53 - 1'],
    ['a uint beyond 2^53 - 1', new CelUint(2n ** 64n - 1n), 'beyond 2^53 - 1'],
    ['NaN', Number.NaN, 'NaN or infinite'],
    ['infinity', [Infinity], 'NaN or infinite'],
    ['a type', new CelTypeName('int'), 'a type is no JSON value'],
    ['a class instance', { a: new URL('http://localhost/secret') }, 'not JSON'],
    ['a function', [() => 'secret'], 'not JSON'],
    ['undefined', { a: undefined }, 'not JSON'],
  ])('refuses %s', (_name, value, problem) => {
    expect(() => toJsonValue(value)).toThrow(
      expect.objectContaining({ code: 'expression_failed', message: expect.stringContaining(problem) }),
    );
  });

  it('refuses two keys with one text', () => {
    const map = new CelMap();
    map.add(1n, 'a');
    map.add('1', 'b');
    expect(() => toJsonValue(map)).toThrow('two keys of a map are the same as JSON text');
  });

  it('refuses what is nested too deeply', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(() => toJsonValue(deep)).toThrow('nested too deeply');
  });

  it('gives JSON back itself, not a copy', () => {
    // Written and read once: -0, which may be among them, is no JSON.
    const values = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));
    fc.assert(
      fc.property(values, (value) => {
        const json = toJsonValue(value);
        expect(json).toEqual(JSON.parse(JSON.stringify(value)));
        if (typeof value === 'object') expect(json).toBe(value);
      }),
    );
  });
});
