/** Joins, switches, ends and timeouts as the builder writes them, and their types. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { WorkflowBuilder } from './workflow-builder.js';
import { DefinitionError } from './definition-error.js';
import { defineWorkflow } from './define-workflow.js';
import type { Ref } from './reference.js';

const order = z.object({ id: z.string(), amount: z.number() });
type Order = z.output<typeof order>;

function definitionOf(build: (w: WorkflowBuilder<Order>) => unknown, more: object = {}) {
  return defineWorkflow({ slug: 'ways', input: order, build, ...more }).definition;
}

describe('what a step reads', () => {
  it('adds no edge from what lies before the steps it is placed behind: that edge would fire for every case', () => {
    const { edges } = definitionOf((w) => {
      const rate = w.step('rate', { run: () => 5 });
      const size = w.switch('size', { cases: { large: rate.output.gt(3) }, default: 'small' });
      w.step('ship', { after: size.on('large'), input: rate.output, run: (n) => n });
      w.step('sorry', { onFailure: size, input: { n: rate.output }, run: () => 1 });
    });
    const to = (target: string) => edges?.filter(({ target_ref: ref }) => ref === target);
    expect(to('ship')).toEqual([{ source_ref: 'size', target_ref: 'ship', type: 'EDGE_TYPE_SUCCESS', case: 'large' }]);
    expect(to('sorry')).toEqual([{ source_ref: 'size', target_ref: 'sorry', type: 'EDGE_TYPE_FAILURE' }]);
  });

  it('is waited for together with a case or a failure when it runs beside them', () => {
    const { steps, edges } = definitionOf((w) => {
      const rate = w.step('rate', { run: () => 5 });
      const size = w.switch('size', { cases: { large: w.input.amount.gt(3) } });
      w.step('ship', { after: size.on('large'), input: rate.output, run: (n) => n });
    });
    expect(edges?.filter(({ target_ref: ref }) => ref === 'ship')).toHaveLength(2);
    expect(steps.find(({ ref }) => ref === 'ship')?.join).toEqual({ mode: 'n_of', count: 2 });
  });
});

describe('a switch', () => {
  it('writes its cases and their edges', () => {
    const { steps, edges } = definitionOf((w) => {
      const size = w.switch('size', {
        cases: { large: w.input.amount.gt(100), usual: w.input.amount.gt(0) },
        default: 'none',
      });
      expectTypeOf(size.on).parameter(0).toEqualTypeOf<'large' | 'usual' | 'none'>();
      expectTypeOf(size.output).toEqualTypeOf<Ref<{ case: 'large' | 'usual' | 'none' | null }>>();
      w.step('book', { after: [size.on('large'), size.on('usual')], join: 'any', run: () => 1 });
      w.fail('refuse', { after: size.on('none'), code: 'no_amount', message: w.input.id.concat('!') });
      // @ts-expect-error there is no such case
      expect(size.on('huge').case).toBe('huge');
    });
    expect(steps[0]).toEqual({
      ref: 'size',
      type: 'STEP_TYPE_SWITCH',
      args: {
        cases: [
          { name: 'large', when: '(input.amount > 100.0)' },
          { name: 'usual', when: '(input.amount > 0.0)' },
        ],
        default: 'none',
      },
    });
    expect(steps[2]).toEqual({
      ref: 'refuse',
      type: 'STEP_TYPE_FAIL',
      args: { code: 'no_amount', message: '(input.id + "!")' },
    });
    expect(edges).toEqual([
      { source_ref: 'size', target_ref: 'book', type: 'EDGE_TYPE_SUCCESS', case: 'large' },
      { source_ref: 'size', target_ref: 'book', type: 'EDGE_TYPE_SUCCESS', case: 'usual' },
      { source_ref: 'size', target_ref: 'refuse', type: 'EDGE_TYPE_SUCCESS', case: 'none' },
    ]);
  });

  it('refuses a case that is no condition', () => {
    const build = (w: WorkflowBuilder<Order>): void => {
      // @ts-expect-error a case is a reference to a truth value
      w.switch('size', { cases: { large: true } });
    };
    expect(() => definitionOf(build)).toThrow(DefinitionError);
  });
});

describe('joins', () => {
  it('say when a step begins; what it reads of the first that has it', () => {
    const { steps, edges } = definitionOf((w) => {
      const a = w.step('a', { run: () => ({ n: 1 }) });
      const b = w.step('b-2', { run: () => ({ n: 2 }) });
      const c = w.step('c', { run: () => ({ n: 3 }) });
      const first = w.firstOf(a, b, c);
      expectTypeOf(first).toEqualTypeOf<Ref<{ n: number }>>();
      w.complete('end', { join: 'any', cancelLosers: true, output: { first } });
      w.step('two', { after: [a, b, c], join: { nOf: 2 }, run: () => 1 });
      w.step('all', { after: [a, b], join: 'all', run: () => 1 });
    });
    const text = '(has(steps.a.output) ? steps.a.output : (has(steps["b-2"].output) ? steps["b-2"].output : ';
    expect(steps[3]).toEqual({
      ref: 'end',
      type: 'STEP_TYPE_COMPLETE',
      args: { output: { first: `${text}steps.c.output))` } },
      join: { mode: 'any', cancel_losers: true },
    });
    expect(edges.filter(({ target_ref }) => target_ref === 'end').map(({ source_ref }) => source_ref)).toEqual([
      ...['a', 'b-2', 'c'],
    ]);
    expect(steps[4]?.join).toEqual({ mode: 'n_of', count: 2 });
    expect(steps[5]?.join).toBeUndefined();
  });
});

describe('limits in time', () => {
  it('of attempts, steps and runs, and the edges behind them', () => {
    const definition = definitionOf(
      (w) => {
        const slow = w.step('slow', {
          retry: { totalTimeout: '5m' },
          scheduleToStartTimeout: '1m',
          heartbeatTimeout: '10s',
          run: (_order, ctx) => {
            expectTypeOf(ctx.lastProgress).toBeUnknown();
            return 1;
          },
        });
        w.step('late', { onTimeout: slow, input: slow.error, run: ({ code }) => code });
      },
      { timeout: '1h', onFailure: 'cancel', onExhausted: 'park' },
    );
    expect(definition).toMatchObject({ timeout: '1h', on_failure: 'cancel', on_exhausted: 'park' });
    expect(definition.steps[0]).toMatchObject({
      retry: { total_timeout: '5m' },
      schedule_to_start_timeout: '1m',
      heartbeat_timeout: '10s',
    });
    expect(definition.edges).toEqual([{ source_ref: 'slow', target_ref: 'late', type: 'EDGE_TYPE_TIMEOUT' }]);
  });

  it('of a run take only what the engine knows', () => {
    // @ts-expect-error there is no such choice
    expect(defineWorkflow({ slug: 'x', input: order, onFailure: 'stop', build: () => 1 }).slug).toBe('x');
  });
});
