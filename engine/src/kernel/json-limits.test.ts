import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkJson, MAX_JSON_DEPTH, MAX_JSON_KEYS, MAX_JSON_STRING_BYTES } from './json-limits.js';

/** A list nested so deep. */
function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i += 1) value = [value];
  return value;
}

describe('checkJson', () => {
  it('accepts all JSON of whole characters without NUL', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((s) => !s.includes('\0'));
    const json = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        fc.constant(null),
        fc.boolean(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        text,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(text, tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(json, (value) => {
        expect(checkJson(value)).toEqual([]);
      }),
    );
  });

  it('bounds the depth exactly', () => {
    expect(checkJson(nested(MAX_JSON_DEPTH))).toEqual([]);
    const [problem] = checkJson(nested(MAX_JSON_DEPTH + 1), 'input');
    expect(problem?.path).toBe(`input${'[0]'.repeat(MAX_JSON_DEPTH)}`);
    expect(problem?.problem).toContain('deeper than 64');
  });

  it('survives nesting that would overflow the stack', () => {
    expect(checkJson(nested(200_000))).toHaveLength(1);
  });

  it('bounds the keys of an object exactly', () => {
    const keys = (count: number): unknown => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 0]));
    expect(checkJson(keys(MAX_JSON_KEYS))).toEqual([]);
    expect(checkJson({ a: { b: keys(MAX_JSON_KEYS + 1) } })).toMatchObject([{ path: 'a.b', value: '10001 keys' }]);
  });

  it('bounds strings and keys by their bytes', () => {
    expect(checkJson('a'.repeat(MAX_JSON_STRING_BYTES))).toEqual([]);
    expect(checkJson('€'.repeat(Math.floor(MAX_JSON_STRING_BYTES / 3)))).toEqual([]);
    expect(checkJson(['€'.repeat(MAX_JSON_STRING_BYTES / 3 + 1)])).toMatchObject([{ path: '[0]' }]);
    expect(checkJson({ ['k'.repeat(MAX_JSON_STRING_BYTES + 1)]: 1 })).toHaveLength(1);
  });

  it.each([
    [{ a: 'x\0y' }, 'a', 'NUL'],
    [{ 'a b': ['\ud83d'] }, '["a b"][0]', 'surrogate'],
    [{ '\0': 1 }, '["\\u0000"]', 'NUL'],
    [{ n: Number.NaN }, 'n', 'finite'],
    [{ n: [Number.POSITIVE_INFINITY] }, 'n[0]', 'finite'],
    [{ n: undefined }, 'n', 'undefined is not JSON'],
    [{ n: 1n }, 'n', 'bigint is not JSON'],
  ])('names place and fault, %#', (value, path, problem) => {
    expect(checkJson(value)).toMatchObject([{ path, problem: expect.stringContaining(problem) }]);
  });

  it('stops at fifty problems', () => {
    expect(checkJson(Array.from({ length: 1000 }, () => '\0'))).toHaveLength(50);
  });
});
