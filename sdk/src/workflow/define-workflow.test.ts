import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { DefinitionError } from './definition-error.js';
import { defineWorkflow } from './define-workflow.js';
import { cel } from './reference.js';

const intake = defineWorkflow({
  slug: 'lead-intake',
  input: z.object({ id: z.string(), amount: z.number(), tags: z.array(z.string()), size: z.number() }),
  build(w) {
    const scored = w.step('score', {
      input: w.input,
      retry: { maxAttempts: 5, nonRetryable: ['BadLead'] },
      timeout: '30s',
      run: (lead, ctx) => {
        expectTypeOf(lead.amount).toEqualTypeOf<number>();
        expectTypeOf(ctx.attempt).toEqualTypeOf<number>();
        return Promise.resolve({ id: lead.id, score: lead.amount * 2, at: new Date() });
      },
    });
    expectTypeOf(scored.output.at.startsWith('2')).toExtend<object>();
    const pause = w.wait('pause', { duration: '2s', after: scored, when: scored.output.score.gt(50) });
    const sent = w.step('notify-buyer', {
      after: pause,
      input: {
        lead: scored.output,
        twice: cel<number>`${scored.output.score} * 2`,
        first: w.input.tags.at(0),
        size: w.input.size,
      },
      run: (input) => {
        expectTypeOf(input.lead.at).toEqualTypeOf<string>();
        expectTypeOf(input.twice).toEqualTypeOf<number>();
        expectTypeOf(input.first).toEqualTypeOf<string>();
        return true;
      },
    });
    w.step('sorry', { onFailure: scored, input: scored.error, run: () => undefined });
    return { score: scored.output.score, sent: sent.output };
  },
});

describe('defineWorkflow', () => {
  it('compiles references to CEL and reads to edges', () => {
    expect(intake.definition.steps.map((step) => step.ref)).toEqual(['score', 'pause', 'notify-buyer', 'sorry']);
    expect(intake.definition.steps[2]?.input).toEqual({
      lead: 'steps.score.output',
      twice: 'steps.score.output.score * 2',
      first: 'input.tags[0]',
      size: 'input.size',
    });
    expect(intake.definition.edges).toEqual([
      {
        source_ref: 'score',
        target_ref: 'pause',
        type: 'EDGE_TYPE_SUCCESS',
        condition: '(steps.score.output.score > 50.0)',
      },
      { source_ref: 'pause', target_ref: 'notify-buyer', type: 'EDGE_TYPE_SUCCESS' },
      { source_ref: 'score', target_ref: 'sorry', type: 'EDGE_TYPE_FAILURE' },
    ]);
    expect(intake.definition.output).toEqual({
      score: 'steps.score.output.score',
      sent: 'steps["notify-buyer"].output',
    });
    expect(intake.definition.steps[0]?.retry).toEqual({ max_attempts: 5, non_retryable: ['BadLead'] });
    expect([...intake.handlers.keys()]).toEqual(['score', 'notify-buyer', 'sorry']);
  });

  it('writes what a wait waits for as the engine reads it', () => {
    const { definition } = defineWorkflow({
      slug: 'reminder',
      input: z.object({ due: z.string(), pause: z.string() }),
      build(w) {
        w.wait('fixed', { duration: '2s' });
        w.wait('given', { duration: w.input.pause });
        w.wait('due', { until: w.input.due });
        w.wait('slot', { schedule: { cron: '0 9 * * *', timeZone: 'Europe/Berlin' } });
      },
    });
    expect(definition.steps.map((step) => step.args)).toEqual([
      { duration: '2s' },
      { duration: { expr: 'input.pause' } },
      { until: 'input.due' },
      { schedule: { cron: '0 9 * * *', time_zone: 'Europe/Berlin' } },
    ]);
  });

  it('types what a caller passes and what a run answers', () => {
    expectTypeOf(intake.parseInput)
      .parameter(0)
      .toEqualTypeOf<{ id: string; amount: number; tags: string[]; size: number }>();
    expectTypeOf<NonNullable<(typeof intake)['output']>>().toEqualTypeOf<{ score: number; sent: boolean }>();
  });

  it('refuses computing with a reference, a condition without a step before, and a doubled name', () => {
    const build = (make: (w: Parameters<Parameters<typeof defineWorkflow>[0]['build']>[0]) => unknown) => () =>
      defineWorkflow({ slug: 'x', input: z.any(), build: make });
    expect(build((w) => `${String(w.input)}!`)).toThrow(DefinitionError);
    expect(
      build((w) => {
        w.wait('a', { duration: '1s', when: cel<boolean>`true` });
      }),
    ).toThrow(/no step before/);
    expect(
      build((w) => {
        w.wait('a', { duration: '1s' });
        w.wait('a', { duration: '1s' });
      }),
    ).toThrow(/two steps/);
    expect(build(() => ({ when: new Date(0) }))).toThrow(/output.when|class Date|JSON cannot hold/);
  });
});
