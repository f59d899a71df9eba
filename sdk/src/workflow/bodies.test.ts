import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { DefinitionError } from './definition-error.js';
import { defineWorkflow } from './define-workflow.js';
import { type Ref, cel } from './reference.js';

const leads = z.object({ campaign: z.string(), leads: z.array(z.object({ mail: z.string(), age: z.number() })) });

const offers = defineWorkflow({
  slug: 'offers',
  input: leads,
  build(w) {
    const price = w.step('price', { run: () => ({ cents: 5 }) });
    const offered = w.forEach(
      'offer',
      w.input.leads,
      (lead, index) => {
        expectTypeOf(lead.mail.startsWith('a')).toExtend<object>();
        const posted = w.step('post', {
          input: { to: lead.mail, index, cents: price.output.cents },
          run: ({ to, index: at }) => {
            expectTypeOf(to).toEqualTypeOf<string>();
            expectTypeOf(at).toEqualTypeOf<number>();
            return { id: `${to}-${at}` };
          },
        });
        const noted = w.step('note', { input: posted.output.id, run: (id) => id.length });
        expectTypeOf(noted.output.gt(3)).toExtend<object>();
        return { id: posted.output.id, length: noted.output };
      },
      { maxParallel: 20, tolerate: '5%', failed: 'null' },
    );
    const report = w.step('report', {
      input: offered.output,
      run: (list) => {
        expectTypeOf(list).toEqualTypeOf<({ id: string; length: number } | null)[]>();
        return list.length;
      },
    });
    return { report: report.output, failed: offered.counts.failed };
  },
});

describe('forEach', () => {
  it('compiles to a scatter with its body, and a gather once its output is read', () => {
    const { steps, edges } = offers.definition;
    expect(steps.map(({ ref, type }) => [ref, type])).toEqual([
      ['price', 'STEP_TYPE_CALLBACK'],
      ['offer', 'STEP_TYPE_SCATTER'],
      ['offer-all', 'STEP_TYPE_GATHER'],
      ['report', 'STEP_TYPE_CALLBACK'],
    ]);
    expect(steps[1]).toMatchObject({
      args: { items: 'input.leads', max_parallel: 20, tolerate: '5%' },
      body: {
        steps: [
          { ref: 'post', input: { to: 'item.mail', index: 'double(index)', cents: 'steps.price.output.cents' } },
          { ref: 'note', input: 'steps.post.output.id' },
        ],
        edges: [{ source_ref: 'post', target_ref: 'note', type: 'EDGE_TYPE_SUCCESS' }],
        output: { id: 'steps.post.output.id', length: 'steps.note.output' },
      },
    });
    expect(steps[2]?.args).toEqual({ of: 'offer', failed: 'null' });
    expect(edges.map(({ source_ref, target_ref }) => `${source_ref} ${target_ref}`)).toEqual([
      ...['price offer', 'offer offer-all', 'offer-all report'],
    ]);
    expect([...offers.handlers.keys()]).toEqual(['price', 'post', 'note', 'report']);
  });

  it('collects nothing that nobody reads, and nests', () => {
    const { definition } = defineWorkflow({
      slug: 'nested',
      input: z.object({ lists: z.array(z.array(z.string())) }),
      build(w) {
        const outer = w.forEach('outer', w.input.lists, (list) => {
          const inner = w.forEach('inner', list, (text) =>
            w.step('shout', { input: text, run: (t) => t.toUpperCase() }),
          );
          return inner.output;
        });
        expectTypeOf(outer.output.at(0).at(0).startsWith('A')).toExtend<object>();
        return undefined;
      },
    });
    const [outer] = definition.steps;
    expect(definition.steps.map(({ ref }) => ref)).toEqual(['outer', 'outer-all']);
    expect(outer?.body?.steps.map(({ ref }) => ref)).toEqual(['inner', 'inner-all']);
    expect(outer?.body?.output).toBe('steps["inner-all"].output');
  });

  it('has items of a part as JSON, and outputs as what the steps put out', () => {
    const { definition } = defineWorkflow({
      slug: 'dated',
      input: z.object({ due: z.array(z.date()) }),
      build(w) {
        const dated = w.forEach('each', w.input.due, (due) => {
          expectTypeOf(due.startsWith('2026')).toExtend<object>();
          return w.step('next', {
            input: due,
            run: (text) => {
              expectTypeOf(text).toEqualTypeOf<string>();
              return { at: new Date(text) };
            },
          });
        });
        w.step('all', {
          input: dated.output,
          run: (list) => {
            expectTypeOf(list).toEqualTypeOf<{ at: Date }[]>();
          },
        });
        expectTypeOf(dated.output.at(0).at.startsWith('2026')).toExtend<object>();
        const again = w.forEach('again', dated.output, (each) => {
          expectTypeOf(each.at.startsWith('2026')).toExtend<object>();
          const whole = w.step('whole', {
            input: each,
            run: (one) => {
              expectTypeOf(one).toEqualTypeOf<{ at: Date }>();
              return one.at;
            },
          });
          return { part: whole.output };
        });
        w.step('parts', {
          input: again.output,
          run: (list) => {
            expectTypeOf(list).toEqualTypeOf<{ part: string }[]>();
          },
        });
        const ways = w.forEach('way', w.input.due, (due) => w.switch('which', { cases: { late: due.lt('2026') } }));
        expectTypeOf(ways.output.at(0).case).toEqualTypeOf<Ref<'late' | null>>();
      },
    });
    const [each] = definition.steps;
    expect(each?.body?.output).toBe('steps.next.output');
  });

  it('says what cannot be a body', () => {
    const define = (build: Parameters<typeof defineWorkflow<typeof leads, unknown>>[0]['build']) => (): unknown =>
      defineWorkflow({ slug: 's', input: leads, build });
    expect(define((w) => w.forEach('a', w.input.leads, () => 1))).toThrow(DefinitionError);
    expect(
      define((w) => {
        w.step('a', { run: () => 1 });
        w.forEach('b', w.input.leads, () => w.step('a', { run: () => 2 }));
      }),
    ).toThrow('two steps are named "a"');
    define((w) => {
      // @ts-expect-error a text is no list
      w.forEach('a', w.input.campaign, () => w.step('b', { run: () => 1 }));
      // @ts-expect-error a wrong name fails in the editor
      w.forEach('c', w.input.leads, (lead) => w.step('d', { input: lead.nmae, run: () => 1 }));
    });
  });
});

describe('loop', () => {
  it('carries JSON', () => {
    const { definition } = defineWorkflow({
      slug: 'until',
      input: z.object({ due: z.date() }),
      build(w) {
        const loop = w.loop('wait', { vars: { due: w.input.due }, maxIterations: 5 }, (vars) => {
          const check = w.step('check', {
            input: vars,
            run: ({ due }) => {
              expectTypeOf(due).toEqualTypeOf<string>();
              return { due: new Date(due), done: true };
            },
          });
          return { until: check.output.done.eq(true), output: { due: check.output.due } };
        });
        expectTypeOf(loop.output.due.startsWith('2026')).toExtend<object>();
      },
    });
    expect(definition.steps[0]?.args?.['vars']).toEqual({ due: 'input.due' });
  });

  it('compiles to a loop that carries what its iterations put out', () => {
    const { definition } = defineWorkflow({
      slug: 'poll',
      input: z.object({ id: z.string() }),
      build(w) {
        const poll = w.loop('poll', { vars: { state: 'new', seconds: 1 }, maxIterations: 50 }, (vars) => {
          const pause = w.wait('pause', { duration: cel<string>`duration(string(${vars.seconds}) + "s")` });
          const check = w.step('check', {
            after: pause,
            input: { id: w.input.id, last: vars.state },
            run: ({ last }) => {
              expectTypeOf(last).toEqualTypeOf<string>();
              return { state: 'done' };
            },
          });
          return {
            until: check.output.state.eq('done'),
            output: { state: check.output.state, seconds: vars.seconds.times(2) },
          };
        });
        expectTypeOf(poll.output.seconds.plus(1)).toExtend<object>();
        // @ts-expect-error the next iteration wants a number
        w.loop('typed', { vars: { n: 1 }, maxIterations: 2 }, (vars) => {
          const step = w.step('count', { input: vars.n, run: (n) => n + 1 });
          return { until: step.output.gt(3), output: { n: 'text' } };
        });
        return poll.output.state;
      },
    });
    expect(definition.steps[0]).toMatchObject({
      type: 'STEP_TYPE_LOOP',
      args: {
        vars: { state: '"new"', seconds: 1 },
        until: '(steps.check.output.state == "done")',
        max_iterations: 50,
      },
      body: { output: { state: 'steps.check.output.state', seconds: '(vars.seconds * 2.0)' } },
    });
  });
});
