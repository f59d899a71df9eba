import { fromBinary, fromJson, toJson, type JsonValue } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DuctorError, type Problem } from '../../kernel/index.js';
import { syntheticContract, thing } from '../testing/synthetic-contract.js';
import { CONTRACT, methodNamed } from '../testing/three-doors.js';
import { checkMessage, type Check } from './check-message.js';
import { decodeMessage, encodeMessage } from './codec.js';

const contract = syntheticContract();
const THING = thing(contract);
const { registry } = contract;

function problems(json: JsonValue): readonly Problem[] {
  const check: Check = { registry, problems: [] };
  checkMessage(check, THING, json, '');
  return check.problems;
}

const roundTrip = (json: JsonValue): unknown =>
  JSON.parse(decodeMessage(registry, THING, encodeMessage(registry, THING, json)));

describe('what is fine', () => {
  it.each<readonly [string, JsonValue, unknown]>([
    ['64-bit numbers as text', { amount_micros: '9007199254740993' }, { amount_micros: '9007199254740993' }],
    ['64-bit numbers as numbers that are exact', { count: 5 }, { count: '5' }],
    ['the largest of 64 bits', { count: '18446744073709551615' }, { count: '18446744073709551615' }],
    ['32-bit numbers as text', { small: '-5' }, { small: -5 }],
    ['durations', { ttl: '1.5s' }, { ttl: '1.500s' }],
    ['times with a zone', { at: '2026-01-31T12:00:00+01:00' }, { at: '2026-01-31T11:00:00Z' }],
    ['bytes of either alphabet', { data: '-_8=' }, { data: '+/8=' }],
    ['maps of messages', { by_name: { a: { title: 'x' } } }, { by_name: { a: { title: 'x' } } }],
    ['maps by number', { by_id: { 5: true } }, { by_id: { 5: true } }],
    ['null for what is absent', { title: null, ttl: null, parts: null }, { title: '', parts: [] }],
    ['null as a value', { any_value: null }, { any_value: null }],
    ['one member of a oneof', { card: 'c', cash: null }, { card: 'c' }],
    ['names in lowerCamelCase', { amountMicros: '1', isOpen: true }, { amount_micros: '1', is_open: true }],
    ['enums by name and by number', { kinds: ['KIND_LARGE', 2, 77] }, { kinds: ['KIND_LARGE', 'KIND_SMALL', 77] }],
    ['floats that are no numbers', { ratio: 'NaN' }, { ratio: 'NaN' }],
    ['natural structs', { extra: { a: [1, null, { b: 'c' }] } }, { extra: { a: [1, null, { b: 'c' }] } }],
  ])('%s', (_, json, expected) => {
    expect(roundTrip(json)).toMatchObject(Object(expected));
  });

  it('is written in full: implicit fields, and nothing that is absent', () => {
    expect(roundTrip({})).toEqual({
      ...{ title: '', amount_micros: '0', count: '0', small: 0, ratio: 0, is_open: false, data: '' },
      ...{ parts: [], by_name: {}, by_id: {}, kinds: [] },
    });
  });

  it('stays what it is: any message that is written is read again', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 });
    const json = fc.jsonValue({ maxDepth: 5 });
    const one = fc.record(
      {
        title: text,
        amount_micros: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
        count: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
        small: fc.integer(),
        is_open: fc.boolean(),
        data: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('base64')),
        kinds: fc.array(fc.constantFrom('KIND_LARGE', 'KIND_SMALL')),
        by_id: fc.dictionary(fc.nat().map(String), fc.boolean()),
        extra: fc.dictionary(
          text.filter((key) => key !== '__proto__'),
          json,
        ),
        any_value: json,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(one, (value) => {
        // What protobuf-es makes of it is the oracle; -0 and __proto__ are no JSON that survives.
        const clean: JsonValue = JSON.parse(JSON.stringify(value));
        if (JSON.stringify(clean).includes('__proto__')) return;
        const message = fromJson(THING, clean, { registry });
        const whole = toJson(THING, message, { registry, alwaysEmitImplicit: true, useProtoFieldName: true });
        expect(roundTrip(clean)).toEqual(JSON.parse(JSON.stringify(whole)));
      }),
      { numRuns: 300 },
    );
  });
});

describe('what is wrong', () => {
  it.each<readonly [string, JsonValue, string, RegExp]>([
    ['a number that lost digits', { amount_micros: 9007199254740993 }, 'amount_micros', /in quotes/],
    ['more than 64 bits', { count: '18446744073709551616' }, 'count', /in quotes/],
    ['less than nothing', { count: '-1' }, 'count', /in quotes/],
    ['a float beyond floats', { ratio: 1e39 }, 'ratio', /number/],
    ['a truth in quotes', { is_open: 'true' }, 'is_open', /without quotes/],
    ['a duration in words', { ttl: '5 minutes' }, 'ttl', /"1\.5s"/],
    ['a time without a zone', { at: '2026-01-31 12:00' }, 'at', /Z/],
    ['a time that is a list', { at: [] }, 'at', /Z/],
    ['base64 of a length that is none', { data: 'abcde' }, 'data', /base64/],
    ['both members of a oneof', { card: 'a', cash: 'b' }, 'cash', /one of them/],
    ['a key that is no number', { by_id: { x: true } }, 'by_id.x', /number/],
    ['a field of a part', { parts: [{}, { titel: 'x' }] }, 'parts[1].titel', /Did you mean "title"\?/],
    ['a field of a value of a map', { by_name: { 'a b': { smal: 1 } } }, 'by_name["a b"].smal', /"small"/],
    ['null in a list', { kinds: [null] }, 'kinds[0]', /KIND_LARGE/],
    ['an enum, nearly', { kinds: ['KIND_LARG'] }, 'kinds[0]', /Did you mean "KIND_LARGE"\?/],
    ['a list for an object', { by_name: [] }, 'by_name', /braces/],
    ['an object for a list', { parts: {} }, 'parts', /brackets/],
    ['a struct that is a list', { extra: [] }, 'extra', /braces/],
    ['a message that is a text', [], '', /braces/],
  ])('%s', (_, json, path, remedy) => {
    const found = problems(json);
    expect(found.map((problem) => problem.path)).toEqual([path]);
    expect(found[0]?.remedy).toMatch(remedy);
    expect(() => encodeMessage(registry, THING, json)).toThrow(DuctorError);
  });

  it('is told all at once, and no more than fifty of it', () => {
    expect(problems({ title: 5, small: 'x', nope: 1 }).map(({ path }) => path)).toEqual(['title', 'small', 'nope']);
    const many = Array.from({ length: 1_000 }, () => ({ nope: 1 }));
    expect(problems({ parts: many })).toHaveLength(50);
  });

  it('shows values short, whatever they are', () => {
    const [found] = problems({ small: 'x'.repeat(1_000_000) });
    expect(found?.value).toHaveLength(200);
    expect(problems({ small: { a: 1 } })[0]?.value).toBe('{…}');
  });
});

/** JSON that is nearly a request: names of its fields, some misspelt, with values of all kinds. */
function nearly(depth: number): fc.Arbitrary<JsonValue> {
  const names = [...methodNamed('CreateWorkflow').input.fields, ...THING.fields].map(({ name }) => name);
  const leaf = fc.oneof(
    fc.constantFrom<JsonValue>(
      null,
      true,
      0,
      -1,
      1.5,
      5,
      2 ** 32,
      '',
      '5',
      'x',
      '1s',
      'KIND_LARGE',
      'STEP_TYPE_WAIT',
      '\0',
    ),
    fc.string({ maxLength: 5, unit: 'binary' }),
  );
  if (depth === 0) return leaf;
  const key = fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 3 }));
  const inner = nearly(depth - 1);
  return fc.oneof(
    leaf,
    fc.array(inner, { maxLength: 3 }),
    fc.dictionary(key, inner, { maxKeys: 4, noNullPrototype: true }),
  );
}

describe('the check', () => {
  it.each([
    ['the synthetic message', THING, registry],
    ['a definition', methodNamed('CreateWorkflow').input, CONTRACT.registry],
  ])('lets nothing through that cannot be read, and never throws: %s', (_, desc, known) => {
    fc.assert(
      fc.property(nearly(3), (json) => {
        const check: Check = { registry: known, problems: [] };
        checkMessage(check, desc, json, '');
        if (check.problems.length === 0) expect(() => fromJson(desc, json, { registry: known })).not.toThrow();
        else for (const { problem, remedy } of check.problems) expect([problem, remedy]).not.toContain('');
      }),
      { numRuns: 3_000 },
    );
  });

  it('makes bytes that decode', () => {
    const bytes = encodeMessage(registry, THING, { title: 'x' });
    expect(toJson(THING, fromBinary(THING, bytes), { registry })).toEqual({ title: 'x' });
  });
});
