import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { collectProblems } from '../checking/problems.js';
import type { Json } from '../definition.js';
import { checkInputValue, compileInputSchema } from './index.js';

function compiled(schema: { readonly [key: string]: Json }) {
  const problems = collectProblems(100);
  const check = compileInputSchema(problems, 'input_schema', schema);
  return { problems: problems.found(), of: (value: unknown) => checkInputValue(check, value) };
}

/** What is wrong with a value under a schema that is fine. */
function wrong(schema: { readonly [key: string]: Json }, value: unknown): readonly string[] {
  const { problems, of } = compiled(schema);
  expect(problems).toEqual([]);
  return of(value);
}

const LEAD = {
  type: 'object',
  required: ['id', 'amount'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 5, pattern: '^[a-z]+$' },
    amount: { type: 'number', minimum: 0, exclusiveMaximum: 100 },
    count: { type: 'integer', multipleOf: 2 },
    tags: { type: 'array', items: { type: 'string' }, uniqueItems: true, maxItems: 2 },
    state: { enum: ['CA', 'NY', null] },
    at: { type: 'string', format: 'date-time' },
  },
};

describe('compileInputSchema', () => {
  it('takes what conforms', () => {
    expect(
      wrong(LEAD, { id: 'abc', amount: 5, count: 4, tags: ['x'], state: null, at: '2026-03-01T00:00:00+01:00' }),
    ).toEqual([]);
  });

  it('says everything that is wrong at once, with places', () => {
    const input = { id: 'TOO-LONG', amount: 100, count: 1.5, tags: ['x', 'x', 3], state: 'TX', at: 'soon', more: 1 };
    expect(wrong(LEAD, input)).toEqual([
      'input.more: is not a field of it',
      'input.id: has more than 5 characters',
      'input.id: does not match ^[a-z]+$',
      'input.amount: is not less than 100',
      'input.count: is a number with a fraction, not a whole number',
      'input.count: is not a multiple of 2',
      'input.tags[2]: is a number, not a string',
      'input.tags: has equal items',
      'input.tags: has more than 2 items',
      'input.state: is not "CA", "NY", null',
      'input.at: is no date-time',
    ]);
    expect(wrong(LEAD, {})).toEqual(['input.id: is missing', 'input.amount: is missing']);
    expect(wrong(LEAD, [])).toEqual(['input: is a list, not an object']);
  });

  it.each<[string, { readonly [key: string]: Json }, unknown[], unknown[]]>([
    ['constraints without a type', { minimum: 3 }, [3, 'x', null], [2]],
    ['several types', { type: ['string', 'null'] }, ['x', null], [1, {}]],
    ['const, by content', { const: { a: [1] } }, [{ a: [1] }], [{ a: [2] }, 1]],
    ['decimal multiples', { multipleOf: 0.01 }, [0.07, 19.99, 3], [0.005]],
    ['length in code points', { maxLength: 1 }, ['😀', ''], ['ab']],
    [
      'prefixItems',
      { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
      [['a', 1], [], 'no list'],
      [['a', 'b'], [1]],
    ],
    ['prefixItems, closed', { prefixItems: [true], items: false }, [[1]], [[1, 2]]],
    ['contains', { contains: { type: 'number' }, minContains: 2, maxContains: 2 }, [[1, 'a', 2]], [[1], [1, 2, 3]]],
    [
      'patternProperties',
      { patternProperties: { '^n_': { type: 'number' } }, additionalProperties: false },
      [{ n_a: 1 }],
      [{ n_a: 'x' }, { b: 1 }],
    ],
    ['propertyNames', { propertyNames: { pattern: '^[a-z]+$' } }, [{ ab: 1 }], [{ A: 1 }]],
    ['counts of fields', { minProperties: 1, maxProperties: 1 }, [{ a: 1 }], [{}, { a: 1, b: 2 }]],
    ['dependentRequired', { dependentRequired: { card: ['name'] } }, [{}, { card: 1, name: 2 }], [{ card: 1 }]],
    ['anyOf', { anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['a', 5], [4]],
    ['oneOf', { oneOf: [{ type: 'number' }, { minimum: 5 }] }, [4, 'a'], [5]],
    ['allOf', { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    ['not', { not: { type: 'string' } }, [1], ['a']],
    ['if', { if: { type: 'string' }, then: { minLength: 2 }, else: { minimum: 2 } }, ['ab', 2], ['a', 1]],
    ['false', { properties: { a: false } }, [{}], [{ a: 1 }]],
    ['$ref', { $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'null' } } }, [null], [1]],
    [
      'own names',
      { properties: { __proto__: true, constructor: { type: 'string' } }, required: ['toString'] },
      [{ toString: 1 }],
      [{}],
    ],
    ['escapes of JavaScript', { pattern: '^\\u00e4\\/(?<n>b)$' }, ['ä/b'], ['a/b']],
  ])('checks %s', (_name, schema, fine, bad) => {
    for (const value of fine) expect([value, wrong(schema, value)]).toEqual([value, []]);
    for (const value of bad) expect([value, wrong(schema, value).length]).toEqual([value, 1]);
  });

  it('follows references that recur', () => {
    const tree = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } }, required: ['name'] };
    expect(wrong(tree, { name: 1, kids: [{ name: 2, kids: [{}] }] })).toEqual([
      'input.kids[0].kids[0].name: is missing',
    ]);
  });

  it('ends on references without end and on alternatives that multiply', () => {
    const loop = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(wrong(loop, 1)[0]).toContain('too costly');
    const bomb = {
      $ref: '#/$defs/a',
      $defs: {
        a: { anyOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] },
        b: { oneOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] },
      },
    };
    expect(wrong(bomb, 1)[0]).toContain('too costly');
  });

  it('matches patterns in linear time', () => {
    expect(wrong({ pattern: '^(a+)+$' }, `${'a'.repeat(20_000)}!`)).toHaveLength(1);
  });

  it.each<[string, { readonly [key: string]: Json }, string]>([
    ['an unknown keyword', { type: 'object', propreties: {} }, 'input_schema.propreties'],
    ['a keyword that is not checked', { unevaluatedProperties: false }, 'input_schema.unevaluatedProperties'],
    [
      'a keyword deep inside',
      { properties: { a: { anyOf: [{ typ: 'x' }] } } },
      'input_schema.properties.a.anyOf[0].typ',
    ],
    ['an unknown type', { type: 'int' }, 'input_schema.type'],
    ['an unknown format', { format: 'phone' }, 'input_schema.format'],
    ['a format that only names a pattern, without it', { format: 'starts_with' }, 'input_schema.format'],
    ['look-ahead', { pattern: '(?=a)' }, 'input_schema.pattern'],
    ['a broken pattern', { patternProperties: { '(': true } }, 'input_schema.patternProperties["("]'],
    ['a lost reference', { $ref: '#/$defs/none' }, 'input_schema["$ref"]'],
    ['a foreign reference', { $ref: 'https://example.com/x' }, 'input_schema["$ref"]'],
    ['another dialect', { $schema: 'http://json-schema.org/draft-04/schema#' }, 'input_schema["$schema"]'],
    ['$id inside', { properties: { a: { $id: 'x' } } }, 'input_schema.properties.a["$id"]'],
    ['items as a list', { items: [{}] }, 'input_schema.items'],
    ['a bound that is no number', { exclusiveMinimum: true }, 'input_schema.exclusiveMinimum'],
    ['a pattern that is too long', { pattern: 'a'.repeat(513) }, 'input_schema.pattern'],
    ['a pattern that is none', { pattern: 5 }, 'input_schema.pattern'],
    ['a format that is none', { format: 5 }, 'input_schema.format'],
    ['bounds of nothing', { minContains: 2 }, 'input_schema.minContains'],
    ['a negative count', { minItems: -1 }, 'input_schema.minItems'],
    ['names that are none', { required: 'id' }, 'input_schema.required'],
    ['no alternatives', { anyOf: [] }, 'input_schema.anyOf'],
    ['an alternative that is none', { oneOf: ['x'] }, 'input_schema.oneOf[0]'],
    ['an enum of nothing', { enum: [] }, 'input_schema.enum'],
    ['multiples of nothing', { multipleOf: 0 }, 'input_schema.multipleOf'],
    ['properties that are none', { properties: [] }, 'input_schema.properties'],
    ['prefixItems that are none', { prefixItems: {} }, 'input_schema.prefixItems'],
    ['uniqueItems that is none', { uniqueItems: 1 }, 'input_schema.uniqueItems'],
    ['$defs that are none', { $defs: [] }, 'input_schema["$defs"]'],
    ['a reference that is none', { $ref: 5 }, 'input_schema["$ref"]'],
    ['a reference that is no URL', { $ref: '#/%' }, 'input_schema["$ref"]'],
    ['dependencies that are none', { dependentRequired: [] }, 'input_schema.dependentRequired'],
    ['then without if', { then: {} }, 'input_schema.then'],
    [
      'a mistake under $defs, once',
      { $ref: '#/$defs/a', $defs: { a: { minimum: 'x' } } },
      'input_schema["$defs"].a.minimum',
    ],
  ])('refuses %s', (_name, schema, path) => {
    const { problems } = compiled(schema);
    expect(problems.map((problem) => problem.path)).toEqual([path]);
    expect(problems[0]?.problem).not.toBe('');
    expect(problems[0]?.remedy).not.toBe('');
  });

  it('suggests the keyword that was meant', () => {
    expect(compiled({ propreties: {} }).problems[0]?.remedy).toContain('Did you mean "properties"?');
  });
});

describe('schemas that zod writes', () => {
  const node = z.object({
    name: z.string(),
    get kids() {
      return z.array(node).optional();
    },
  });
  const everything = z.object({
    text: z.string().min(1).max(50).startsWith('a').endsWith('b').includes('c').lowercase(),
    regex: z.string().regex(/^[\w.-]{1,5}$/),
    email: z.email(),
    uuid: z.uuid(),
    uuid7: z.uuidv7(),
    guid: z.guid(),
    url: z.url(),
    jwt: z.jwt(),
    e164: z.e164(),
    at: z.iso.datetime(),
    zoned: z.iso.datetime({ offset: true, precision: 3 }),
    local: z.iso.datetime({ local: true }),
    day: z.iso.date(),
    time: z.iso.time(),
    lasts: z.iso.duration(),
    v4: z.ipv4(),
    v6: z.ipv6(),
    c4: z.cidrv4(),
    c6: z.cidrv6(),
    host: z.hostname(),
    mac: z.mac(),
    b64: z.base64(),
    b64u: z.base64url(),
    ulid: z.ulid(),
    cuid: z.cuid2(),
    nano: z.nanoid(),
    emoji: z.emoji(),
    hex: z.hex(),
    hash: z.hash('sha256'),
    whole: z.int().positive(),
    i32: z.int32(),
    part: z.number().min(0).lt(1).multipleOf(0.1),
    flag: z.boolean(),
    none: z.null(),
    list: z.array(z.string()).min(1).max(3),
    pair: z.tuple([z.string(), z.number()], z.boolean()),
    map: z.record(z.string(), z.number()),
    few: z.record(z.enum(['x', 'y']), z.number()),
    choice: z.enum(['a', 'b']),
    literal: z.literal(['a', 1]),
    either: z.union([z.string(), z.number()]),
    tagged: z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]),
    both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
    nullable: z.string().nullable(),
    byDefault: z.string().default('x'),
    strict: z.strictObject({ a: z.string() }),
    loose: z.looseObject({ a: z.string() }),
    tree: node,
    any: z.any(),
    unknown: z.unknown(),
    described: z.string().describe('for people').meta({ id: 'described', title: 'T' }),
  });

  it('are all accepted', () => {
    for (const io of ['input', 'output'] as const) {
      const schema = JSON.parse(JSON.stringify(z.toJSONSchema(everything, { io })));
      expect(compiled(schema).problems).toEqual([]);
    }
  });

  it('agree with zod', () => {
    const shape = z.strictObject({
      id: z.uuid(),
      mail: z.email().optional(),
      at: z.iso.datetime({ offset: true }).nullable(),
      n: z.int().min(0).max(9),
      tags: z.array(z.enum(['a', 'b'])).max(2),
      any: z.union([z.string(), z.object({ x: z.number() })]),
    });
    const { of } = compiled(JSON.parse(JSON.stringify(z.toJSONSchema(shape))));
    const near = fc.record(
      {
        id: fc.oneof(fc.uuid(), fc.string()),
        mail: fc.oneof(fc.emailAddress(), fc.constant('a@b')),
        at: fc.oneof(
          fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:00+02:00', '2026-13-01T00:00:00Z', null),
          fc.string(),
        ),
        n: fc.oneof(fc.integer({ min: -2, max: 11 }), fc.constant(1.5)),
        tags: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
        any: fc.oneof(fc.string(), fc.record({ x: fc.oneof(fc.integer(), fc.string()) }), fc.boolean()),
        more: fc.constant(1),
      },
      { requiredKeys: ['id', 'n', 'tags'] },
    );
    fc.assert(
      fc.property(near, (value) => {
        expect([value, of(value).length === 0]).toEqual([value, shape.safeParse(value).success]);
      }),
      { numRuns: 500 },
    );
  });
});
