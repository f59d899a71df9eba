/** Child runs as the builder writes them, and their types. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { defineWorkflow } from './define-workflow.js';
import type { WholeRef } from './reference.js';

const invoice = defineWorkflow({
  slug: 'send-invoice',
  input: z.object({ customer: z.string(), amount: z.number() }),
  build: (w) => ({ number: w.step('number', { run: () => 'I-1' }).output }),
});

const order = z.object({ id: z.string(), amount: z.number() });

describe('w.child', () => {
  it('waits for a run of another workflow, whose answer it puts out', () => {
    const { definition } = defineWorkflow({
      slug: 'order',
      input: order,
      build(w) {
        const priced = w.step('price', { run: () => 5 });
        const sent = w.child('invoice', invoice, { input: { customer: w.input.id, amount: priced.output } });
        expectTypeOf(sent.output).toEqualTypeOf<WholeRef<{ number: string }>>();
        return { number: sent.output.number };
      },
    });
    expect(definition.steps[1]).toEqual({
      ref: 'invoice',
      type: 'STEP_TYPE_SUB_WORKFLOW',
      input: { customer: 'input.id', amount: 'steps.price.output' },
      args: { workflow: 'send-invoice' },
    });
    expect(definition.edges).toEqual([{ source_ref: 'price', target_ref: 'invoice', type: 'EDGE_TYPE_SUCCESS' }]);
    expect(definition.output).toEqual({ number: 'steps.invoice.output.number' });
  });

  it('lets one go that nobody waits for, by its name and version', () => {
    const { definition } = defineWorkflow({
      slug: 'order',
      input: order,
      build(w) {
        const gone = w.child('audit', 'audit-trail', { detach: true, version: 3, parentClosePolicy: 'terminate' });
        expectTypeOf(gone.output).toEqualTypeOf<WholeRef<{ run_id: string }>>();
      },
    });
    expect(definition.steps[0]?.args).toEqual({
      ...{ workflow: 'audit-trail', version: 3, detach: true, parent_close_policy: 'terminate' },
    });
  });

  it('refuses an input that the child does not take', () => {
    const { definition } = defineWorkflow({
      slug: 'order',
      input: order,
      build(w) {
        // @ts-expect-error the amount is a number
        w.child('invoice', invoice, { input: { customer: w.input.id, amount: w.input.id } });
      },
    });
    expect(definition.steps).toHaveLength(1);
  });
});
