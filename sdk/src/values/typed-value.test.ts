/** What goes into a value comes out of it, or is refused with where it stands. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../errors.js';
import { decodeValue, encodeValue, TYPED_ENCODING } from './typed-value.js';

function roundTrip(value: unknown): unknown {
  const { data, encoding } = encodeValue(value, 'the value');
  return decodeValue(data, encoding);
}

function refusal(value: unknown): string {
  try {
    encodeValue(value, 'output of step a');
    return 'taken';
  } catch (error) {
    return error instanceof DuctorError ? `${error.code}: ${error.message}` : String(error);
  }
}

const text = fc.string({ unit: fc.constantFrom('a', 'ü', '😀', '"', '.', '[', '__proto__', 'json', 'types') });
const any = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.constantFrom(null, true, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0, undefined),
    text,
    fc.double(),
    fc.bigInt(),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array({ maxLength: 20 }),
    text.map((message) => new RangeError(message, { cause: new Date(5) })),
  ),
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(
      text,
      tie('node').filter((part) => part !== undefined),
      { maxKeys: 4, noNullPrototype: true },
    ),
    fc.array(fc.tuple(tie('node'), tie('node')), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    fc.array(tie('node'), { maxLength: 3 }).map((items) => new Set(items)),
  ),
})).node;

describe('values', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(any, (value) => {
        expect(roundTrip(value)).toStrictEqual(value ?? null);
      }),
      { numRuns: 500 },
    );
  });

  it('that are plain JSON travel as JSON, byte for byte', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: true }), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        const { data, encoding } = encodeValue(plain, 'it');
        expect([data.toString('utf8'), encoding]).toEqual([JSON.stringify(plain), '']);
      }),
    );
  });

  it('show others what JSON has of them', () => {
    const value = {
      at: new Date(0),
      big: 2n ** 70n,
      of: new Map([['k', new Set([1])]]),
      none: [undefined],
      gone: undefined,
    };
    const { data, encoding } = encodeValue(value, 'it');
    expect(encoding).toBe(TYPED_ENCODING);
    expect(JSON.parse(data.toString('utf8'))).toEqual({
      json: { at: '1970-01-01T00:00:00.000Z', big: '1180591620717411303424', of: [['k', [1]]], none: [null] },
      types: [
        [['at'], 'Date'],
        [['big'], 'bigint'],
        [['of'], 'Map'],
        [['of', 0, 1], 'Set'],
        [['none', 0], 'undefined'],
      ],
    });
  });

  it('keep of an error its class, stack, cause and fields', () => {
    const cause = Object.assign(new TypeError('inner'), { code: 'E1', at: new Date(1) });
    class PaymentError extends Error {
      override readonly name = 'PaymentError';
    }
    const error = new PaymentError('outer', { cause });
    const back = roundTrip([error, new Error('plain')]);
    expect(back).toEqual([
      expect.objectContaining({ name: 'PaymentError', message: 'outer', stack: error.stack }),
      expect.objectContaining({ name: 'Error', message: 'plain' }),
    ]);
    const inner = Array.isArray(back) && back[0] instanceof Error ? back[0].cause : undefined;
    expect(inner).toBeInstanceOf(TypeError);
    expect(inner).toMatchObject({ message: 'inner', code: 'E1', at: new Date(1) });
  });

  it('take a Buffer as bytes', () => {
    expect(roundTrip({ a: Buffer.from('hi') })).toStrictEqual({ a: new Uint8Array([0x68, 0x69]) });
  });

  it('are refused, with place and remedy, where they could not come back', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    class Money {
      readonly amount = 1;
    }
    let deep: unknown = 1;
    for (let depth = 0; depth < 65; depth += 1) deep = [deep];
    for (const [value, message] of [
      [{ a: [() => 1] }, 'output of step a holds a function at a[0]'],
      [{ a: Symbol('x') }, 'output of step a holds a symbol at a'],
      [[new Money()], 'output of step a holds an instance of Money at [0]'],
      [{ url: new URL('http://a.test') }, 'output of step a holds an instance of URL at url'],
      [
        new Map([['k', new (class extends Date {})()]]),
        'output of step a holds an instance of a class without a name at [0][1]',
      ],
      [{ p: Promise.resolve(1) }, 'output of step a holds an instance of Promise at p'],
      [{ r: /x/ }, 'output of step a holds an instance of RegExp at r'],
      [new Float64Array(1), 'output of step a holds an instance of Float64Array'],
      [circle, 'output of step a refers to itself at self'],
      [{ 'a b': 'x\0' }, 'output of step a holds a NUL character at ["a b"]'],
      [['\ud800'], 'output of step a holds half of a surrogate pair at [0]'],
      [{ '\udc00': 1 }, 'output of step a holds half of a surrogate pair'],
      [{ [Symbol('x')]: 1 }, 'output of step a has a field named by a symbol'],
      [deep, 'output of step a is nested deeper than 64'],
    ] as const) {
      expect(refusal(value)).toMatch(/^(value_not_json|invalid_argument): /);
      expect(refusal(value)).toContain(message);
    }
    const twice = { same: 1 };
    expect(refusal([twice, twice])).toBe('taken');
  });

  it('cannot be read when they are damaged or of an unknown kind', () => {
    const read = (json: string) => () => decodeValue(Buffer.from(json), TYPED_ENCODING);
    for (const json of [
      '1',
      '{"json":1}',
      '{"json":1,"types":[1]}',
      '{"json":1,"types":[[["a"],"Date"]]}',
      '{"json":{},"types":[[["__proto__"],"Date"]]}',
      '{"json":1,"types":[[[],"Temporal"]]}',
    ]) {
      expect(read(json)).toThrow(expect.objectContaining({ code: 'value_not_json' }));
    }
    expect(() => decodeValue(Buffer.from('1'), 'cbor')).toThrow(/encoded as "cbor"/);
  });
});
