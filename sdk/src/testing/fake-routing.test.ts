/** Workflows that select and route, in tests without pools. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DuctorError, NonRetryableError } from '../errors.js';
import { defineWorkflow } from '../workflow/define-workflow.js';
import { testRun } from './test-run.js';

const workflow = defineWorkflow({
  slug: 'market',
  input: z.object({ state: z.string() }),
  build(w) {
    const routable = { attributes: w.input };
    const buyers = w.select('buyers', { pool: 'solar', slate: 2, mode: 'ranked', routable }, (buyer) =>
      w.step('post', {
        input: { id: buyer.id },
        run: ({ id }) => {
          if (id === 'ada') throw new NonRetryableError('not today');
          return `sold to ${id}`;
        },
      }),
    );
    const desk = w.route('desk', { pool: 'desks', exclude: [buyers.output.recipient.id] });
    const to = w.project('to', { id: desk.output.assignment_ids.at(0), closed: '' });
    const closed = w.project('closed', { id: '', closed: desk.error.code }, { onFailure: desk });
    return { sold: buyers.output.output, desk: w.firstOf(to, closed) };
  },
});

const input = { state: 'NY' };

describe('a test', () => {
  it('says whom steps select and route to', async () => {
    const asked: unknown[] = [];
    const desk = (ask: object): readonly string[] => {
      asked.push(ask);
      return ['eve'];
    };
    const run = await testRun(workflow, input, { routing: { buyers: ['ada', 'bob', 'cyd'], desk } });
    expect(await run.result()).toEqual({ sold: 'sold to bob', desk: { id: 'assignment-desk-0', closed: '' } });
    expect(asked).toEqual([{ pool: 'desks', routable: {}, slate: null, excluded: ['bob'] }]);
  });

  it('refuses by the code of an error, and edges catch it', async () => {
    const desk = (): never => {
      throw new DuctorError('pool_closed', 'it is night');
    };
    const run = await testRun(workflow, input, { routing: { buyers: [{ id: 'bob', units: 3 }], desk } });
    expect(await run.result()).toMatchObject({ sold: 'sold to bob', desk: { closed: 'pool_closed' } });
  });

  it('comes to the same over a crash after each commit', async () => {
    const crashAt = Array.from({ length: 20 }, (_, index) => index + 1);
    const run = await testRun(workflow, input, { crashAt, routing: { buyers: ['ada', 'bob'], desk: ['eve'] } });
    expect(await run.result()).toMatchObject({ sold: 'sold to bob' });
  });

  it('is told how to say it when it says nothing', async () => {
    const run = await testRun(workflow, input);
    await expect(run.result()).rejects.toThrow(/say whom buyers is to select: routing: \{ "buyers": \['ada'\] \}/);
  });
});
