import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../../../expressions/index.js';
import type { Json } from '../../definition.js';
import { validateDefinition } from '../../validate.js';
import { DATAFLOW } from './dataflow.js';

const cel = createCelCompiler();

type Args = { readonly [key: string]: Json };

/** What a DATAFLOW step with these args makes of an input. docs/workflows.md has an example of every operation. */
function run(args: Args, input: unknown): unknown {
  const step = { ref: 'd', type: 'STEP_TYPE_DATAFLOW', args };
  expect(validateDefinition({ family_slug: 'f', steps: [step] }, cel).problems).toEqual([]);
  const action = DATAFLOW.compile(step, cel, () => expect.fail('no body'));
  if (action.type !== 'DATAFLOW') return undefined;
  return action.transform({ input: () => input, stepOutput: () => undefined, stepError: () => undefined, run: {} });
}

const failing = (code: string, message: RegExp): unknown =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe('DATAFLOW', () => {
  it.each<[string, Args, unknown, RegExp]>([
    ['a source that is no list', { operation: 'filter', source: 'input', filter: 'true' }, {}, /^args\.source/],
    [
      'a condition that is no bool',
      { operation: 'filter', source: 'input', filter: 'item' },
      [true, 'x'],
      /^item 1: args\.filter/,
    ],
    [
      'an item without the field',
      { operation: 'map', source: 'input', map: { a: 'item.a' } },
      [{ a: 1 }, {}],
      /^item 1: args\.map\.a/,
    ],
    [
      'a flat_map to no list',
      { operation: 'flat_map', source: 'input', flat_map: 'item' },
      [[1], 2],
      /^item 1: args\.flat_map is a number/,
    ],
    ['a merge of no objects', { operation: 'merge', merge: ['input', '[1]'] }, {}, /args\.merge\[1\] is a list/],
    [
      'a concat of no lists',
      { operation: 'merge', merge: ['input'], mode: 'concat' },
      {},
      /args\.merge\[0\] is an object/,
    ],
    [
      'a computed mode that is none',
      { operation: 'merge', merge: ['input'], mode: { expr: '"deeper"' } },
      {},
      /^args\.mode/,
    ],
    [
      'sort keys without an order',
      { operation: 'sort', source: 'input', sort: [{ by: 'item' }] },
      [1, {}],
      /^item 1: args\.sort\[0\]\.by is an object/,
    ],
    [
      'a sum of texts',
      { operation: 'aggregate', source: 'input', aggregate: { s: { sum: 'item' } } },
      [1, 'x'],
      /^item 1: args\.aggregate\.s\.sum is a string/,
    ],
    [
      'a count of numbers',
      { operation: 'aggregate', source: 'input', aggregate: { s: { count: 'item' } } },
      [1],
      /^item 0: args\.aggregate\.s\.count/,
    ],
  ])('fails on %s, saying where', (_name, args, input, message) => {
    expect(() => run(args, input)).toThrow(failing('expression_failed', message));
  });

  it('counts items and gives their place as an int', () => {
    expect(run({ operation: 'filter', source: 'input', filter: 'index % 2 == 0' }, ['a', 'b', 'c'])).toEqual([
      'a',
      'c',
    ]);
    expect(run({ operation: 'map', source: 'input', map: ['index', 'item'] }, ['a'])).toEqual([[0, 'a']]);
  });

  it('merges deep and shallow', () => {
    const input = { a: { x: { p: 1, l: [1] }, y: 1 }, b: { x: { q: 2, l: [2] } } };
    const merged = (mode: Json): unknown =>
      run({ operation: 'merge', merge: ['input.a', null, 'input.b'], mode }, input);
    expect(merged('shallow')).toEqual({ x: { q: 2, l: [2] }, y: 1 });
    expect(merged('deep')).toEqual({ x: { p: 1, q: 2, l: [2] }, y: 1 });
    expect(merged({ expr: '"de" + "ep"' })).toEqual(merged('deep'));
  });

  it('joins lists, without those that are null', () => {
    expect(run({ operation: 'merge', merge: ['input.a', null, ['1']], mode: 'concat' }, { a: ['x', 'y'] })).toEqual([
      'x',
      'y',
      1,
    ]);
  });

  it('keeps keys that only look special', () => {
    const input = JSON.parse('[{"__proto__": {"x": 1}}, {"constructor": 2}]');
    expect(JSON.stringify(run({ operation: 'merge', merge: ['input[0]', 'input[1]'], mode: 'deep' }, input))).toBe(
      '{"__proto__":{"x":1},"constructor":2}',
    );
  });

  it('aggregates nothing', () => {
    const aggregate = Object.fromEntries(
      ['count', 'any', 'all']
        .map((name) => [name, { [name]: 'item.ok' }])
        .concat(['sum', 'avg', 'min', 'max', 'first', 'last', 'collect'].map((name) => [name, { [name]: 'item.n' }])),
    );
    const empty = {
      count: 0,
      any: false,
      all: true,
      sum: 0,
      avg: null,
      min: null,
      max: null,
      first: null,
      last: null,
      collect: [],
    };
    expect(run({ operation: 'aggregate', source: 'input', aggregate }, [])).toEqual(empty);
    expect(run({ operation: 'aggregate', source: 'input', aggregate, group_by: 'item.g' }, [])).toEqual([]);
  });

  it('leaves null out of sums, averages and extremes', () => {
    const aggregate = { sum: { sum: 'item' }, avg: { avg: 'item' }, min: { min: 'item' }, first: { first: 'item' } };
    expect(run({ operation: 'aggregate', source: 'input', aggregate }, [null, 3, 1])).toEqual({
      sum: 4,
      avg: 2,
      min: 1,
      first: null,
    });
  });

  it('fails an assertion with its message, which may compute', () => {
    const assert = [
      { that: 'input.n > 0.0' },
      { that: 'input.n < 10.0', message: { expr: '"n is " + string(input.n)' } },
    ];
    expect(run({ operation: 'assert', assert }, { n: 5 })).toBe(true);
    expect(() => run({ operation: 'assert', assert }, { n: -1 })).toThrow(
      failing('assertion_failed', /^args\.assert\[0\]: "input\.n > 0\.0" does not hold$/),
    );
    expect(() => run({ operation: 'assert', assert }, { n: 50 })).toThrow(failing('assertion_failed', /n is 50$/));
  });

  it('bounds what a step visits, as a whole', () => {
    const list = (length: number): number[] => Array.from({ length }, (_, index) => index);
    const filter = { operation: 'filter', source: 'input', filter: 'item >= 0.0' };
    expect(run(filter, list(100_000))).toHaveLength(100_000);
    expect(() => run(filter, list(400_000))).toThrow(failing('expression_too_costly', /./));
    // Each item alone stays far below the limit of one expression.
    const nested = { operation: 'map', source: 'input', map: 'input.exists(x, x == item + 0.5)' };
    expect(run(nested, list(100))).toHaveLength(100);
    expect(() => run(nested, list(3000))).toThrow(failing('expression_too_costly', /./));
  });

  const scalar = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.constantFrom('a', 'b', ''),
    fc.boolean(),
    fc.constant(null),
  );
  const items = fc.array(fc.record({ k: scalar, v: fc.integer({ min: -1000, max: 1000 }) }), { maxLength: 30 });

  it('sorts stably, and the same whatever the order was but for equal keys', () => {
    fc.assert(
      fc.property(items, fc.constantFrom('asc', 'desc'), (list, order) => {
        const numbered = list.map((item, n) => ({ ...item, n }));
        const sorted = run(
          { operation: 'sort', source: 'input', sort: [{ by: 'item.k', order }, { by: 'item.v' }] },
          numbered,
        );
        const again = run(
          { operation: 'sort', source: 'input', sort: [{ by: 'item.k', order }, { by: 'item.v' }] },
          sorted,
        );
        expect(again).toEqual(sorted);
        expect(sorted).toHaveLength(list.length);
        const byKey = run({ operation: 'sort', source: 'input', sort: [{ by: '1' }] }, numbered);
        expect(byKey).toEqual(numbered);
      }),
    );
  });

  it('keeps one item per key, and groups lose nothing', () => {
    fc.assert(
      fc.property(items, (list) => {
        const keys = new Set(list.map(({ k }) => JSON.stringify(k)));
        expect(run({ operation: 'dedupe', source: 'input', dedupe: 'item.k' }, list)).toHaveLength(keys.size);
        const groups = run(
          { operation: 'aggregate', source: 'input', group_by: 'item.k', aggregate: { all: { collect: 'item' } } },
          list,
        );
        expect(groups).toHaveLength(keys.size);
        const flat = run({ operation: 'flat_map', source: 'input', flat_map: 'item.all' }, groups);
        expect(flat).toHaveLength(list.length);
        const total = run({ operation: 'aggregate', source: 'input', aggregate: { s: { sum: 'item.v' } } }, list);
        expect(total).toEqual({ s: list.reduce((sum, { v }) => sum + v, 0) });
      }),
    );
  });

  it('gives the same for the same values, always', () => {
    const args: Args = { operation: 'sort', source: 'input.filter(x, x.v > 0.0)', sort: [{ by: 'item.v' }] };
    fc.assert(
      fc.property(items, (list) => {
        expect(JSON.stringify(run(args, list))).toBe(JSON.stringify(run(args, structuredClone(list))));
      }),
    );
  });
});
