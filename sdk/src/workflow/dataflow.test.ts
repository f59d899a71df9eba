import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { testRun } from '../testing/index.js';
import { DefinitionError } from './definition-error.js';
import { defineWorkflow } from './define-workflow.js';
import type { WorkflowBuilder } from './workflow-builder.js';

const lead = z.object({
  id: z.string(),
  score: z.number(),
  state: z.enum(['CA', 'NY']),
  tags: z.array(z.string()),
  due: z.date(),
  limit: z.number().nullable(),
});
const input = z.object({
  leads: z.array(lead),
  name: z.string(),
  own: z.object({ id: z.number(), mail: z.object({ to: z.string() }), note: z.string().optional() }),
  base: z.object({ id: z.string(), mail: z.object({ from: z.string() }), note: z.number() }),
  maybe: z.object({ id: z.boolean() }).nullable(),
});
type In = z.output<typeof input>;

/** A workflow of these steps. */
function flow<X>(build: (w: WorkflowBuilder<In>) => X) {
  return defineWorkflow({ slug: 'flow', input, build });
}

const argsOf = (build: (w: WorkflowBuilder<In>) => unknown): readonly unknown[] =>
  flow(build).definition.steps.map(({ args }) => args);

describe('operations over a list', () => {
  it('compile what a function says of an item to expressions of item and index', () => {
    const args = argsOf((w) => {
      const good = w.filter('good', w.input.leads, (item, index) => item.score.gt(0.5).and(index.lt(2)));
      const brief = w.map('brief', good.output, ({ id }, index) => ({ id, of: w.input.name, place: index.plus(1) }));
      w.sort('ranked', brief.output, ({ place }) => ({ by: place, order: 'desc' }));
      w.dedupe('once', w.input.leads, ({ id, state }) => [id, state]);
      w.aggregate('sum', good.output, ({ score }) => ({ n: { count: true }, total: { sum: score } }));
    });
    expect(args).toEqual([
      {
        operation: 'filter',
        source: 'input.leads',
        filter: '((item.score > 0.5) && (double(index) < 2.0))',
      },
      {
        operation: 'map',
        source: 'steps.good.output',
        map: { id: 'item.id', of: 'input.name', place: '(double(index) + 1.0)' },
      },
      { operation: 'sort', source: 'steps.brief.output', sort: [{ by: 'item.place', order: 'desc' }] },
      { operation: 'dedupe', source: 'input.leads', dedupe: ['item.id', 'item.state'] },
      {
        operation: 'aggregate',
        source: 'steps.good.output',
        aggregate: { n: { count: true }, total: { sum: 'item.score' } },
      },
    ]);
  });

  it('stand behind what they and their functions read, and nothing else', () => {
    const { edges } = flow((w) => {
      const limit = w.project('limit', { least: 0.5 });
      const good = w.filter('good', w.input.leads, ({ score }) => score.gt(limit.output.least));
      w.forEach('each', good.output, (item) => w.filter('tags', item.tags, (tag) => tag.ne(w.input.name)));
    }).definition;
    expect(edges.map(({ source_ref, target_ref }) => `${source_ref} ${target_ref}`)).toEqual([
      'limit good',
      'good each',
    ]);
  });

  it('know what comes out', () => {
    flow((w) => {
      const { leads } = w.input;
      const good = w.filter('good', leads, ({ due }) => due.startsWith('2026'));
      const brief = w.map('brief', good.output, ({ id, due, limit }, index) => ({ id, due, limit, index, x: 'y' }));
      const tags = w.flatMap('tags', leads, (item) => item.tags);
      const ranked = w.sort('ranked', brief.output, ({ id }) => id);
      const pairs = w.flatMap('pairs', leads, ({ id }) => [id, 'x']);
      w.step('see', {
        input: { ranked: ranked.output, tags: tags.output, pairs: pairs.output },
        run: (seen) =>
          expectTypeOf(seen).toEqualTypeOf<{
            ranked: { id: string; due: string; limit: number | null; index: number; x: string }[];
            tags: string[];
            pairs: string[];
          }>(),
      });
      const results = w.aggregate('all', leads, ({ score, limit, id }) => ({
        ...{ many: { count: true }, high: { any: score.gt(1) }, mean: { avg: score }, least: { min: limit } },
        ...{ best: { max: score }, ids: { collect: id } },
      }));
      const groups = w.aggregate(
        'groups',
        leads,
        ({ score, limit }) => ({ best: { max: score }, mean: { avg: limit }, total: { sum: limit } }),
        { groupBy: ({ state }) => state },
      );
      w.step('sums', {
        input: { results: results.output, groups: groups.output },
        run: (seen) =>
          expectTypeOf(seen).toEqualTypeOf<{
            results: {
              many: number;
              high: boolean;
              mean: number | null;
              least: number | null;
              best: number | null;
              ids: string[];
            };
            groups: { group: 'CA' | 'NY'; best: number; mean: number | null; total: number }[];
          }>(),
      });
    });
  });

  it('refuse in the editor what the items do not have', () => {
    flow((w) => {
      const { leads } = w.input;
      // @ts-expect-error a text is no list
      w.filter('a', w.input.name, () => w.input.own.id.eq(1));
      // @ts-expect-error a wrong name
      w.map('b', leads, (item) => ({ id: item.nmae }));
      // @ts-expect-error a number is no list
      w.flatMap('d', leads, ({ score }) => score);
      // @ts-expect-error a list has no order
      w.sort('e', leads, ({ tags }) => tags);
      // @ts-expect-error neither asc nor desc
      w.sort('f', leads, ({ id }) => ({ by: id, order: 'down' }));
      // @ts-expect-error neither first nor last
      w.dedupe('g', leads, ({ id }) => id, { keep: 'middle' });
      // @ts-expect-error no key of the items
      w.dedupe('h', leads, (item) => item.nmae);
      // @ts-expect-error texts have no sum
      w.aggregate('i', leads, ({ id }) => ({ total: { sum: id } }));
      const sums = w.aggregate('j', leads, ({ score }) => ({ total: { sum: score } }));
      // @ts-expect-error no such result
      void sums.output.totla;
    });
    const conditions = (): unknown =>
      // @ts-expect-error a number is no condition
      flow((w) => w.filter('a', w.input.leads, ({ score }) => score).output.size());
    expect(conditions).not.toThrow();
  });

  const refused: readonly (readonly [string, (w: WorkflowBuilder<In>) => unknown, string])[] = [
    // @ts-expect-error a value of this process
    ['no list', (w) => w.map('a', [1, 2], () => 1), 'a goes over no list: pass a reference: w.input.leads'],
    // @ts-expect-error a value of this process
    ['no condition', (w) => w.filter('a', w.input.leads, () => true), 'step a: what filters is no condition'],
    ['no keys', (w) => w.sort('a', w.input.leads, () => []), 'step a: keys is an empty list: pass at least one'],
    // @ts-expect-error a value of this process
    ['a key that is none', (w) => w.sort('a', w.input.leads, () => 'id'), 'step a: key 0 is no key'],
    ['no results', (w) => w.aggregate('a', w.input.leads, () => ({})), 'step a has no results'],
    [
      'two functions at once',
      // @ts-expect-error exactly one
      (w) => w.aggregate('a', w.input.leads, ({ score }) => ({ x: { sum: score, avg: score } })),
      'step a: x is not one function',
    ],
    [
      'an unknown function',
      // @ts-expect-error there is none
      (w) => w.aggregate('a', w.input.leads, ({ score }) => ({ x: { median: score } })),
      'use one of count, any, all, sum',
    ],
    [
      'an object as a result',
      // @ts-expect-error one expression only
      (w) => w.aggregate('a', w.input.leads, ({ score }) => ({ x: { collect: { score } } })),
      'step a: x.collect is an object or list',
    ],
    [
      'a result named as the key is',
      (w) =>
        w.aggregate('a', w.input.leads, ({ score }) => ({ group: { sum: score } }), { groupBy: ({ state }) => state }),
      'group is the name of the key of a group',
    ],
    [
      'steps in a function',
      (w) => w.map('a', w.input.leads, ({ id }) => w.step('b', { input: id, run: (x) => x }).output),
      'step b is declared in a function of a: use w.forEach',
    ],
    [
      'an item that is hidden by its own',
      (w) => w.forEach('each', w.input.leads, (item) => w.filter('a', w.input.leads, ({ id }) => id.eq(item.id))),
      'step a reads the item or index of each where its own items hide it',
    ],
  ];
  it.each(refused)('refuse %s, saying what to do', (_name, build, message) => {
    expect(() => flow(build)).toThrow(DefinitionError);
    expect(() => flow(build)).toThrow(message);
  });
});

describe('merge', () => {
  it('knows the fields of what it joins', () => {
    const { definition } = flow((w) => {
      const { base, own, maybe, leads } = w.input;
      const shallow = w.merge('shallow', [base, own]);
      const deep = w.merge('deep', [base, own, { mail: { html: true } }], { mode: 'deep' });
      const perhaps = w.merge('perhaps', [base, maybe]);
      const both = w.merge('both', [leads, w.filter('some', leads, ({ id }) => id.ne('')).output], { mode: 'concat' });
      w.step('see', {
        input: { shallow: shallow.output, deep: deep.output, perhaps: perhaps.output.id, first: both.output.at(0).id },
        run: (seen) =>
          expectTypeOf(seen).toEqualTypeOf<{
            shallow: { id: number; mail: { to: string }; note: number | string };
            deep: { id: number; mail: { from: string; to: string; html: boolean }; note: number | string };
            perhaps: string | boolean;
            first: string;
          }>(),
      });
      // @ts-expect-error a text is no object
      w.merge('a', [base, w.input.name]);
      // @ts-expect-error lists need the mode concat
      w.merge('b', [leads]);
      // @ts-expect-error an object is no list
      w.merge('c', [base], { mode: 'concat' });
      // @ts-expect-error there is no such mode
      w.merge('d', [base], { mode: 'deeper' });
    });
    expect(definition.steps[1]?.args).toEqual({
      operation: 'merge',
      mode: 'deep',
      merge: ['input.base', 'input.own', { mail: { html: true } }],
    });
    expect(() => flow((w) => w.merge('a', []))).toThrow('step a: parts is an empty list: pass at least one');
  });
});

describe('assert', () => {
  it('takes conditions, with messages that may compute', () => {
    const build = (w: WorkflowBuilder<In>): void => {
      w.assert('sane', [
        { that: w.input.leads.size().gt(0), message: 'no leads' },
        { that: w.input.name.ne(''), message: w.input.base.id.concat(' has no name') },
        { that: w.input.own.id.gt(0) },
      ]);
      // @ts-expect-error a text is no condition
      w.assert('text', [{ that: w.input.name }]);
    };
    expect(argsOf(build)[0]).toEqual({
      operation: 'assert',
      assert: [
        { that: '(size(input.leads) > 0.0)', message: 'no leads' },
        { that: '(input.name != "")', message: { expr: '(input.base.id + " has no name")' } },
        { that: '(input.own.id > 0.0)' },
      ],
    });
    expect(() => flow((w) => w.assert('a', []))).toThrow('step a: assertions is an empty list');
    // @ts-expect-error a value of this process
    expect(() => flow((w) => w.assert('a', [{ that: true }]))).toThrow('step a: assertion 0 is no condition');
  });
});

describe('a run', () => {
  it('computes it all in the engine', async () => {
    const workflow = defineWorkflow({
      slug: 'shops',
      input: z.object({ shops: z.array(z.object({ name: z.string(), sales: z.array(z.number()) })) }),
      build(w) {
        const shops = w.forEach('shop', w.input.shops, (shop) => {
          const own = w.project('own', shop);
          const sales = w.map('sales', shop.sales, (cents) => ({ cents, shop: own.output.name }));
          const { total } = w.aggregate('sum', sales.output, ({ cents }) => ({ total: { sum: cents } })).output;
          return { sales: sales.output, total };
        });
        const all = w.flatMap('all', shops.output, ({ sales }) => sales);
        const best = w.sort('best', all.output, ({ cents }) => ({ by: cents, order: 'desc' }));
        w.assert('some', [{ that: all.output.size().gt(1), message: 'too few' }]);
        return best.output;
      },
    });
    const shops = [
      { name: 'a', sales: [5, 7] },
      { name: 'b', sales: [6] },
    ];
    const run = await testRun(workflow, { shops });
    expect(await run.result()).toEqual([
      { cents: 7, shop: 'a' },
      { cents: 6, shop: 'b' },
      { cents: 5, shop: 'a' },
    ]);
    const few = await testRun(workflow, { shops: [] });
    await expect(few.result()).rejects.toMatchObject({ code: 'assertion_failed' });
  });
});
