/** What expressions mean: the table of semantics that the choice of the library was measured by, and our own rules. */
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../kernel/index.js';
import { createCelCompiler, toJsonValue, type CelSchema, type JsonValue } from './index.js';

const compiler = createCelCompiler();
const schema: CelSchema = { id: 'semantics', variables: { a: 'dyn', m: 'dyn', l: 'dyn', s: 'dyn', t: 'timestamp' } };
const scope = {
  a: 5000,
  m: {
    n: null,
    x: 1,
    nested: { deep: 'd' },
    list: [1, 2.5, 'three'],
    constructor: 'own',
    __proto__x: 1,
    'x-y': 'dash',
  },
  l: [3, 1, 2],
  s: 'Grüße 😀',
  t: new Date('2026-03-01T09:30:00.250Z'),
};

function evaluate(text: string): JsonValue {
  return toJsonValue(compiler.compile(text, schema).evaluate(scope));
}

function failure(text: string): string {
  try {
    evaluate(text);
  } catch (caught) {
    if (caught instanceof DuctorError) return `${caught.code}: ${caught.message}`;
    throw caught;
  }
  return 'no failure';
}

describe('numbers', () => {
  it.each<[string, JsonValue]>([
    ['9007199254740993 == 9007199254740992', false],
    ['7 / 2', 3],
    ['-7 / 2', -3],
    ['-7 % 3', -1],
    ['7.0 / 2', 3.5],
    ['1 == 1.0', true],
    ['1u == 1', true],
    ['1u == 1.0', true],
    ['a == 5000', true],
    ['a != 5000', false],
    ['5000 == a', true],
    ['a + 1', 5001],
    ['1 + a', 5001],
    ['a - 1', 4999],
    ['a * 2', 10000],
    ['a / 3 > 1666.6 && a / 3 < 1666.7', true],
    ['a % 7', 2],
    ['a > 4999', true],
    ['a >= 5000 && a <= 5000', true],
    ['4999 < a', true],
    ['size(l) * 2.5', 7.5],
    ['2.5 * size(l)', 7.5],
    ['a in [1, 5000]', true],
    ['2 in l', true],
    ['4 in l', false],
    ['2u in [1, 2, 3]', true],
    ['1 in [1.0]', true],
    ['l[0] + l[1]', 4],
    ['l[1] < l[2] && l[2] < 2.5', true],
    ['1 < 1u', false],
    ['-a', -5000],
    ['int(a) / 3', 1666],
    ['int(2.9)', 2],
    ['int(-2.9)', -2],
    ['int("42")', 42],
    ['uint(3.7) == 3u', true],
    ['double("1.5e2")', 150],
    ['string(1.0)', '1'],
    ['string(2.5)', '2.5'],
    ['-9223372036854775808 == int("-9223372036854775808")', true],
    ['0x10', 16],
    ['1e3', 1000],
    ['[1, 2] == [1.0, 2.0]', true],
    ['{"a": 1} == {"a": 1.0}', true],
    ['[1, "a"] == [1, "a"]', true],
    ['math.greatest(1, a, 3)', 5000],
    ['math.least(l)', 1],
    ['math.round(2.5)', 3],
    ['math.round(-2.5)', -3],
    ['math.abs(-3)', 3],
  ])('%s is %j', (text, expected) => {
    expect(evaluate(text)).toEqual(expected);
  });

  it.each([
    ['9223372036854775807 + 1', 'an int is out of its 64 bits'],
    ['-9223372036854775808 - 1', 'an int is out of its 64 bits'],
    ['-(-9223372036854775808)', 'an int is out of its 64 bits'],
    ['-9223372036854775808 / -1', 'an int is out of its 64 bits'],
    ['9223372036854775807 * 2', 'an int is out of its 64 bits'],
    ['int(1e300)', 'a double is out of 64 bits'],
    ['int(9223372036854775807.0)', 'a double is out of 64 bits'],
    ['int(0.0 / 0.0)', 'a double is out of 64 bits'],
    ['1 / 0', 'division by zero'],
    ['1 % 0', 'modulo by zero'],
    ['a % 0', 'modulo by zero'],
    ['1u - 2u', 'a uint is out of its 64 bits'],
    ['int("x")', 'cannot be converted to an int'],
    ['a / 0', 'NaN or infinite'],
    ['9007199254740993', 'beyond 2^53 - 1'],
  ])('%s fails: %s', (text, expected) => {
    expect(failure(text)).toContain(`expression_failed: `);
    expect(failure(text)).toContain(expected);
  });

  it.each([
    ['1u + 1', '+ does not take a uint and an int'],
    ['"a" + 1', '+ does not take a string and an int'],
    ['"a" < 1', '< does not take a string and an int'],
    ['9223372036854775808', 'does not fit into 64 bits'],
    ['-"a"', '- needs a number'],
    ['true + true', '+ does not take a bool and a bool'],
  ])('%s does not compile: %s', (text, expected) => {
    expect(failure(text)).toContain('expression_invalid: ');
    expect(failure(text)).toContain(expected);
  });
});

describe('logic', () => {
  it.each<[string, JsonValue]>([
    ['true || m.missing == 1', true],
    ['m.missing == 1 || true', true],
    ['false && m.missing == 1', false],
    ['m.missing == 1 && false', false],
    ['m.x || true', true],
    ['true ? 1 : 2.5', 1],
    ['false ? "text" : null', null],
    ['m.n == null', true],
    ['m.x == null', false],
    ['"a" == null', false],
    ['!(1 > 2)', true],
    ['[true, false].exists(b, b)', true],
  ])('%s is %j', (text, expected) => {
    expect(evaluate(text)).toEqual(expected);
  });

  it.each([
    ['m.missing == 1 || false', 'there is no "missing"'],
    ['true && m.missing == 1', 'there is no "missing"'],
    ['m.x && true', 'a value is not a bool'],
    ['m.x ? 1 : 2', 'a value is not a bool'],
    ['!m.x', 'a value is not a bool'],
  ])('%s fails: %s', (text, expected) => {
    expect(failure(text)).toContain(expected);
  });
});

describe('fields, lists and maps', () => {
  it.each<[string, JsonValue]>([
    ['m.nested.deep', 'd'],
    ['m["nested"]["deep"]', 'd'],
    ['m["x-y"]', 'dash'],
    ['m.constructor', 'own'],
    ['has(m.n)', true],
    ['has(m.zz)', false],
    ['has(m.constructor)', true],
    ['has(m.nested.constructor)', false],
    ['has(m.toString)', false],
    ['"x" in m', true],
    ['"toString" in m', false],
    ['size(m.list)', 3],
    ['m.list[1]', 2.5],
    ['m.list[1.0]', 2.5],
    ['{1: "one"}[1]', 'one'],
    ['{1: "one"}[1.0]', 'one'],
    ['{true: "yes"}[true]', 'yes'],
    ['{"__proto__": 1}["__proto__"]', 1],
    ['{"constructor": 2}.constructor', 2],
    ['{"a": {"b": [1, {"c": 2}]}}', { a: { b: [1, { c: 2 }] } }],
    ['{1: 2, true: 3, "a": 4}', { '1': 2, true: 3, a: 4 }],
    ['[1] + [2.5]', [1, 2.5]],
    ['[] + l', [3, 1, 2]],
    ['size([])', 0],
    ['m.nested == {"deep": "d"}', true],
  ])('%s is %j', (text, expected) => {
    expect(evaluate(text)).toEqual(expected);
  });

  it.each([
    ['m.missing', 'line 1, column 3: there is no "missing"'],
    ['has(m.missing.b)', 'there is no "missing"'],
    ['m.n.b', 'null has no field "b"'],
    ['m.x.b', 'a double has no field "b"'],
    ['l[3]', 'an index is outside the list'],
    ['l[-1]', 'an index is outside the list'],
    ['l[0.5]', 'a list is indexed by what is no whole number'],
    ['m[m.nested.deep]', 'there is no such key'],
    ['{"a": 1, "a": 2}', 'a map names one key twice'],
  ])('%s fails: %s', (text, expected) => {
    expect(failure(text)).toContain(expected);
  });
});

describe('macros', () => {
  it.each<[string, JsonValue]>([
    ['[].all(e, e > 0)', true],
    ['[].exists(e, e > 0)', false],
    ['[].map(e, e + 1)', []],
    ['[[]].map(inner, inner.all(e, e > 0))', [true]],
    ['l.all(e, e > 0)', true],
    ['l.exists(e, e == 2)', true],
    ['l.exists_one(e, e > 2)', true],
    ['l.map(e, e * 2)', [6, 2, 4]],
    ['l.map(e, e > 1, e * 2)', [6, 4]],
    ['l.filter(e, e > 1)', [3, 2]],
    ['m.nested.map(key, key)', ['deep']],
    ['m.nested.map(key, m.nested[key])', ['d']],
    ['l.exists(e, e / 0 == 1 || e == 2)', true],
    ['[1, 0].exists(e, 1 / e == 1)', true],
    ['[0, 1].exists(e, 1 / e == 1)', true],
    ['[0, 2].all(e, 1 / e == 1)', false],
    ['l.all(i, e, i >= 0 && e > 0)', true],
    ['l.transformList(i, e, i + int(e))', [3, 2, 4]],
    ['m.nested.transformMap(k, v, v + k)', { deep: 'ddeep' }],
    ['["a", "b"].transformMapEntry(i, v, {v: i})', { a: 0, b: 1 }],
    ['cel.bind(x, a + 1, x * x)', 25010001],
    [
      '[1, 2].map(x, [10, 20].map(y, x * y))',
      [
        [10, 20],
        [20, 40],
      ],
    ],
    ['[1, 2].map(x, [x].map(x, x + 1)[0] + x)', [3, 5]],
    ['l.filter(e, e > 1).map(e, string(int(e))).join("+")', '3+2'],
  ])('%s is %j', (text, expected) => {
    expect(evaluate(text)).toEqual(expected);
  });
});

describe('text and time', () => {
  it.each<[string, JsonValue]>([
    ['size(s)', 7],
    ['s.charAt(6)', '😀'],
    ['s.substring(0, 5)', 'Grüße'],
    ['s.indexOf("😀")', 6],
    ['"a-b-c".split("-")', ['a', 'b', 'c']],
    ['["a", "b"].join(", ")', 'a, b'],
    ['"abcabc".replace("b", "X", 1)', 'aXcabc'],
    ['" x ".trim()', 'x'],
    ['"Ärger".lowerAscii()', 'Ärger'],
    ['"abc".reverse()', 'cba'],
    ['"%s has %d (%.1f%%)".format(["Ann", 3, 12.34])', 'Ann has 3 (12.3%)'],
    ['"abc".matches("^a.c$")', true],
    ['matches("abc", "b")', true],
    ['"\\u00fc" < "\\uffff" && "\\uffff" < "😀"', true],
    ['string(bytes("ü"))', 'ü'],
    ['bytes("hi")', 'aGk='],
    ['base64.encode(b"hi")', 'aGk='],
    ['t', '2026-03-01T09:30:00.25Z'],
    ['t + duration("36h")', '2026-03-02T21:30:00.25Z'],
    ['t - timestamp("2026-03-01T09:00:00Z")', '1800.25s'],
    ['t > timestamp("2026-03-01T00:00:00+02:00")', true],
    ['t.getHours()', 9],
    ['t.getHours("America/New_York")', 4],
    ['t.getHours("+05:30")', 15],
    ['t.getDayOfWeek()', 0],
    ['t.getFullYear()', 2026],
    ['t.getMonth()', 2],
    ['duration("1h30m").getMinutes()', 90],
    ['string(duration("1.5s"))', '1.5s'],
    ['int(t)', 1772357400],
    ['type(t) == google.protobuf.Timestamp', true],
    ['type(a) == double && type(1) == int && type("") == string', true],
    ['timestamp("2026-03-01T09:30:00.123456789Z")', '2026-03-01T09:30:00.123456789Z'],
  ])('%s is %j', (text, expected) => {
    expect(evaluate(text)).toEqual(expected);
  });

  it.each([
    ['timestamp("yesterday")', 'not an RFC 3339 timestamp'],
    ['timestamp("2026-02-30T00:00:00Z")', 'not an RFC 3339 timestamp'],
    ['timestamp("9999-12-31T23:59:59Z") + duration("1s")', 'outside the years 0001 to 9999'],
    ['duration("1 hour")', 'a text is not a duration'],
    ['t.getHours("Mars/Olympus")', 'there is no such time zone'],
    ['"abc".substring(2, 1)', 'a substring ends before it starts'],
    ['"abc".charAt(9)', 'a position is outside the text'],
    ['string(b"\\xff")', 'bytes are not UTF-8'],
  ])('%s fails: %s', (text, expected) => {
    expect(failure(text)).toContain(expected);
  });
});
