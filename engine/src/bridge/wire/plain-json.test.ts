import { describe, expect, it } from 'vitest';
import { Value } from '../../gen/google/protobuf/struct.js';
import { plainJson, plainObject } from './plain-json.js';

/** What the generated code makes of JSON that came over the wire. */
const overTheWire = (json: unknown): unknown => Value.unwrap(Value.decode(Value.encode(Value.wrap(json)).finish()));

describe('plainJson', () => {
  it('gives back JSON as it was sent', () => {
    for (const json of [null, true, 0, -1.5, '', 'ä🙂', [], {}, [null, [1]], { a: { b: [{ c: null }] } }]) {
      expect(plainJson(overTheWire(json), 'input')).toEqual(json);
    }
  });

  it('refuses what is no JSON, too deep, or holds NUL, and says where', () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 65; depth += 1) deep = [deep];
    for (const [value, path] of [
      [deep, /^input(\[0\])+$/],
      [{ a: 'x\0' }, /^input\.a$/],
      [{ a: Number.NaN }, /^input\.a$/],
      [undefined, /^input$/],
    ] as const) {
      const caught = ((): unknown => {
        try {
          return plainJson(value, 'input');
        } catch (error) {
          return error;
        }
      })();
      expect(caught).toMatchObject({ code: 'invalid_argument' });
      expect(caught).toHaveProperty('details.0.path', expect.stringMatching(path));
    }
  });

  it('refuses a field named __proto__ instead of losing it', () => {
    // The generated code assigns the field, which sets the prototype.
    const decoded = { a: Object.setPrototypeOf({}, { admin: true }) };
    expect(() => plainJson(decoded, 'input')).toThrow(/not acceptable/);
    expect(JSON.stringify(plainJson({ b: 1 }, 'input'))).toBe('{"b":1}');
  });
});

describe('plainObject', () => {
  it('takes objects only', () => {
    expect(plainObject({ a: 1 }, 'args')).toEqual({ a: 1 });
    expect(() => plainObject([1], 'args')).toThrow(/not a JSON object/);
  });
});
