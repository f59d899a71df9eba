/** Compensations as the builder writes them, and their types. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { WorkflowBuilder } from './workflow-builder.js';
import { defineWorkflow } from './define-workflow.js';

const trip = z.object({ to: z.string() });

function built(build: (w: WorkflowBuilder<z.output<typeof trip>>) => unknown) {
  return defineWorkflow({ slug: 'trip', input: trip, build });
}

describe('compensate', () => {
  it('stands with the step it undoes and receives its output', () => {
    const { definition, handlers } = built((w) => {
      w.step('flight', {
        run: (input) => ({ booking: input.to, seats: 2 }),
        compensate: (flight) => {
          expectTypeOf(flight).toEqualTypeOf<{ booking: string; seats: number }>();
        },
      });
      w.step('hotel', {
        run: (input) => Promise.resolve({ room: input.to.length }),
        compensate: {
          name: 'leave',
          retry: { maxAttempts: 9 },
          when: w.input.to.ne('home'),
          run: (hotel, ctx) => {
            expectTypeOf(hotel).toEqualTypeOf<{ room: number }>();
            expectTypeOf(ctx.attempt).toEqualTypeOf<number>();
          },
        },
      });
    });
    expect([...handlers.keys()]).toEqual(['flight', 'undo-flight', 'hotel', 'leave']);
    expect(definition.steps.filter(({ ref }) => ref === 'undo-flight' || ref === 'leave')).toEqual([
      { ref: 'undo-flight', type: 'STEP_TYPE_CALLBACK', input: 'steps.flight.output' },
      { ref: 'leave', type: 'STEP_TYPE_CALLBACK', input: 'steps.hotel.output', retry: { max_attempts: 9 } },
    ]);
    expect(definition.edges).toEqual([
      { source_ref: 'flight', target_ref: 'undo-flight', type: 'EDGE_TYPE_COMPENSATE' },
      { source_ref: 'hotel', target_ref: 'leave', type: 'EDGE_TYPE_COMPENSATE', condition: '(input.to != "home")' },
    ]);
  });

  it('may read more, in full', () => {
    const { definition } = built((w) => {
      const flight = w.step('flight', { run: () => 'F1' });
      const pay = w.step('pay', { after: flight, run: () => 1 });
      w.compensation('drop', flight, {
        input: { id: flight.output, why: pay.error.code },
        run: (input) => expectTypeOf(input).toEqualTypeOf<{ id: string; why: string }>(),
      });
      w.compensation('void', pay, { run: (paid) => expectTypeOf(paid).toEqualTypeOf<number>() });
    });
    expect(definition.steps[2]?.input).toEqual({ id: 'steps.flight.output', why: 'steps.pay.error.code' });
    expect(definition.steps[3]?.input).toBe('steps.pay.output');
    expect(definition.edges.map(({ target_ref, type }) => `${target_ref} ${type}`)).toEqual([
      ...['pay EDGE_TYPE_SUCCESS', 'drop EDGE_TYPE_COMPENSATE', 'void EDGE_TYPE_COMPENSATE'],
    ]);
  });

  it('refuses a body for another output', () => {
    const { handlers } = built((w) => {
      w.step('flight', {
        run: () => ({ booking: 'F1' }),
        // @ts-expect-error the step puts out an object
        compensate: (flight: number) => flight,
      });
    });
    expect(handlers.size).toBe(2);
  });
});
