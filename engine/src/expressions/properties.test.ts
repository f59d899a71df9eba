/** Laws that hold for all values and texts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../kernel/index.js';
import { nearestName } from './checking/nearest.js';
import { createCelCompiler, toJsonValue, type CelSchema } from './index.js';
import {
  civilFromSeconds,
  daysFromCivil,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
} from './values/time.js';

const compiler = createCelCompiler();
const schema: CelSchema = { id: 'properties', variables: { a: 'dyn', b: 'dyn', c: 'dyn' } };

function evaluate(text: string, scope: Readonly<Record<string, unknown>>): unknown {
  return compiler.compile(text, schema).evaluate(scope);
}

const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const number = fc.oneof(fc.double({ noNaN: true }), int64, fc.integer(), fc.integer().map(BigInt));

describe('equality', () => {
  it('is reflexive, symmetric, and what JSON says, on JSON values', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(evaluate('a == a', { a })).toBe(true);
        expect(evaluate('a == b', { a, b })).toBe(evaluate('b == a', { a, b }));
        expect(evaluate('a != b', { a, b })).toBe(!evaluate('a == b', { a, b }));
        expect(evaluate('a == b', { a, b: JSON.parse(JSON.stringify(a)) as unknown })).toBe(true);
        expect(evaluate('a in [b, a]', { a, b })).toBe(true);
      }),
    );
  });
});

describe('order', () => {
  it('of numbers of all kinds is total and transitive', () => {
    fc.assert(
      fc.property(number, number, number, (a, b, c) => {
        const is = (text: string): boolean => evaluate(text, { a, b, c }) === true;
        expect([is('a < b'), is('a == b'), is('a > b')].filter(Boolean)).toHaveLength(1);
        expect(is('a <= b')).toBe(is('a < b || a == b'));
        if (is('a < b && b < c')) expect(is('a < c')).toBe(true);
      }),
    );
  });

  it('of texts is the order of their code points', () => {
    const byCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(evaluate('a < b', { a, b })).toBe(byCodePoints(a, b) < 0);
      }),
    );
  });
});

describe('arithmetic', () => {
  it('on ints is exact or fails', () => {
    const operators: readonly (readonly [string, (a: bigint, b: bigint) => bigint])[] = [
      ['a + b', (a, b) => a + b],
      ['a - b', (a, b) => a - b],
      ['a * b', (a, b) => a * b],
      ['a / b', (a, b) => (b === 0n ? 2n ** 64n : a / b)],
      ['a % b', (a, b) => (b === 0n ? 2n ** 64n : a % b)],
    ];
    fc.assert(
      fc.property(fc.constantFrom(...operators), int64, int64, ([text, exact], a, b) => {
        const due = exact(a, b);
        if (BigInt.asIntN(64, due) === due) expect(evaluate(text, { a, b })).toBe(due);
        else expect(() => evaluate(text, { a, b })).toThrow(DuctorError);
      }),
    );
  });

  it('of a JSON number and an int is that of doubles', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), fc.maxSafeInteger(), (a, b) => {
        const scope = { a, b: BigInt(b) };
        expect(evaluate('a + b', scope)).toBe(a + b);
        expect(evaluate('b - a', scope)).toBe(b - a);
        expect(evaluate('a * b', scope)).toBe(a * b);
        expect(evaluate('a > b', scope)).toBe(a > b);
        expect(evaluate('a == b', scope)).toBe(a === b);
      }),
    );
  });
});

describe('macros', () => {
  const lists = fc.array(fc.integer({ min: -5, max: 5 }));

  it('are what JavaScript has under those names', () => {
    fc.assert(
      fc.property(lists, (a) => {
        const is = (x: number): boolean => x > 1;
        expect(evaluate('a.all(x, x > 1)', { a })).toBe(a.every(is));
        expect(evaluate('a.exists(x, x > 1)', { a })).toBe(a.some(is));
        expect(evaluate('a.exists_one(x, x > 1)', { a })).toBe(a.filter(is).length === 1);
        expect(evaluate('a.filter(x, x > 1)', { a })).toEqual(a.filter(is));
        expect(evaluate('a.map(x, x * 2)', { a })).toEqual(a.map((x) => x * 2));
        expect(evaluate('a.all(x, x > 1) == !a.exists(x, !(x > 1))', { a })).toBe(true);
      }),
    );
  });
});

describe('text', () => {
  it('functions count code points', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(evaluate('size(a)', { a })).toBe(BigInt(Array.from(a).length));
        expect(evaluate('(a + b).substring(size(a))', { a, b })).toBe(b);
        expect(evaluate('(a + b).startsWith(a) && (a + b).endsWith(b) && (a + b).contains(b)', { a, b })).toBe(true);
        expect(evaluate('a.reverse().reverse()', { a })).toBe(a);
        if (a !== '') expect(evaluate('b.split(a).join(a)', { a, b })).toBe(b);
      }),
    );
  });
});

describe('time', () => {
  it('text and timestamp are inverse, within the years 1 to 9999', () => {
    const ns = fc.bigInt({ min: -62_135_596_800_000_000_000n, max: 253_402_300_799_999_999_999n });
    fc.assert(
      fc.property(ns, (instant) => {
        expect(parseTimestamp(formatTimestamp(instant)).ns).toBe(instant);
      }),
    );
  });

  it('text and duration are inverse', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (span) => {
        expect(parseDuration(formatDuration(span)).ns).toBe(span);
      }),
    );
  });

  it('civil dates are those of the runtime', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          const civil = civilFromSeconds(Math.floor(date.getTime() / 1000));
          expect([civil.year, civil.month - 1, civil.day]).toEqual([
            date.getUTCFullYear(),
            date.getUTCMonth(),
            date.getUTCDate(),
          ]);
          expect([civil.hour, civil.minute, civil.second]).toEqual([
            date.getUTCHours(),
            date.getUTCMinutes(),
            date.getUTCSeconds(),
          ]);
          expect(civil.weekday).toBe(date.getUTCDay());
          expect(daysFromCivil(civil.year, civil.month, civil.day)).toBe(Math.floor(date.getTime() / 86_400_000));
        },
      ),
    );
  });
});

describe('whatever is written', () => {
  const token = fc.constantFrom(
    ...[
      'a',
      'b',
      '.',
      'x',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      ':',
      ',',
      '+',
      '-',
      '*',
      '/',
      '%',
      '!',
      '&&',
      '||',
      '==',
      '<',
    ],
    ...[
      'in',
      '?',
      '1',
      '2.5',
      '3u',
      '"s"',
      'true',
      'null',
      'map',
      'all',
      'has',
      'size',
      'matches',
      'cel',
      'bind',
      'math',
      ' ',
    ],
  );

  it('ends in a value or in a DuctorError that tells where', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(token, { maxLength: 20 }).map((tokens) => tokens.join('')),
    );
    fc.assert(
      fc.property(texts, json, json, (text, a, b) => {
        const problems = compiler.check(text, schema);
        for (const { position } of problems) {
          expect(position.offset).toBeGreaterThanOrEqual(0);
          expect(position.offset).toBeLessThanOrEqual(text.length);
          expect(position.line).toBeGreaterThanOrEqual(1);
          expect(position.column).toBeGreaterThanOrEqual(1);
        }
        try {
          toJsonValue(evaluate(text, { a, b, c: 1 }));
          expect(problems).toEqual([]);
        } catch (caught) {
          expect(caught).toBeInstanceOf(DuctorError);
          const { code } = DuctorError.from(caught);
          const codes =
            problems.length === 0
              ? ['expression_failed', 'expression_too_costly']
              : ['expression_invalid', 'expression_too_costly'];
          expect(codes).toContain(code);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('nearestName', () => {
  it('finds the name with one letter wrong, missing, added or swapped', () => {
    const names = ['amount', 'customer_id', 'state', 'created_at', 'tags'];
    expect(nearestName('amuont', names)).toBe('amount');
    expect(nearestName('amout', names)).toBe('amount');
    expect(nearestName('amountt', names)).toBe('amount');
    expect(nearestName('customerId', names)).toBe('customer_id');
    expect(nearestName('STATE', names)).toBe('state');
    expect(nearestName('banana', names)).toBeUndefined();
    expect(nearestName('x'.repeat(1_000), names)).toBeUndefined();
  });
});
