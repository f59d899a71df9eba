/** Types say what comes back: whole values as they were, parts and templates as JSON. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { defineWorkflow } from './define-workflow.js';

describe('typed values', () => {
  it('arrive whole as they were, and in templates as JSON', () => {
    const flow = defineWorkflow({
      slug: 'typed',
      input: z.object({ due: z.date(), cents: z.bigint(), tags: z.set(z.string()), by: z.map(z.string(), z.date()) }),
      build(w) {
        const first = w.step('first', {
          run(input) {
            expectTypeOf(input).toEqualTypeOf<{
              due: Date;
              cents: bigint;
              tags: Set<string>;
              by: Map<string, Date>;
            }>();
            return { at: input.due, bytes: Buffer.from('x'), list: [1, undefined], nothing: Number.NaN };
          },
        });
        w.step('whole', {
          input: first.output,
          run: (input) =>
            expectTypeOf(input).toEqualTypeOf<{
              at: Date;
              bytes: Uint8Array;
              list: (number | undefined)[];
              nothing: number;
            }>(),
        });
        w.step('part', {
          input: { at: first.output.at, all: first.output, by: w.input.by },
          run: (input) =>
            expectTypeOf(input).toEqualTypeOf<{
              at: string;
              all: { at: string; bytes: string; list: (number | null)[]; nothing: number };
              by: { [key: string]: string };
            }>(),
        });
        return first.output;
      },
    });
    expectTypeOf<NonNullable<(typeof flow)['output']>>().toEqualTypeOf<{
      at: Date;
      bytes: Uint8Array;
      list: (number | undefined)[];
      nothing: number;
    }>();
    expect(flow.definition.output).toBe('steps.first.output');
    expect(flow.definition.input_schema).toMatchObject({
      properties: {
        due: { type: 'string', format: 'date-time' },
        cents: { type: 'string', pattern: '^-?[0-9]+$' },
        tags: { type: 'array' },
        by: { type: 'array' },
      },
    });
  });

  it('cannot be what no value can be', () => {
    expect(() => defineWorkflow({ slug: 'x', input: z.object({ f: z.symbol() }), build: () => ({}) })).toThrow(
      /has no JSON form/,
    );
  });
});
