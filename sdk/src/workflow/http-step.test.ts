import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { testRun } from '../testing/index.js';
import { defineWorkflow } from './define-workflow.js';

const workflow = defineWorkflow({
  slug: 'crm',
  input: z.object({ id: z.string() }),
  build(w) {
    const found = w.http<{ readonly name: string }>('find', {
      url: w.input.id.concat('/lead'),
      query: { full: true },
      retry: { initialInterval: '1s' },
    });
    const told = w.http('tell', {
      method: 'POST',
      url: 'https://crm.example.com',
      body: { name: found.output.body.name },
    });
    return { name: found.output.body.name, status: told.output.status };
  },
});

describe('w.http', () => {
  it('says what is called, with references as expressions, and stands behind what it reads', () => {
    const [find, tell] = workflow.definition.steps;
    expect(find?.args).toEqual({ url: { expr: '(input.id + "/lead")' }, query: { full: true } });
    expect(tell?.args?.['body']).toEqual({ name: 'steps.find.output.body.name' });
    expect(workflow.definition.edges).toMatchObject([{ source_ref: 'find', target_ref: 'tell' }]);
  });

  it('knows the types of what is read of an answer', () => {
    const { definition } = defineWorkflow({
      slug: 'types',
      input: z.object({ n: z.number(), o: z.object({}) }),
      build(w) {
        const a = w.http<{ readonly name: string }>('a', { url: 'https://example.com' });
        // @ts-expect-error the body has no such field
        void a.output.body.nobody;
        // @ts-expect-error a URL is a text
        w.http('b', { url: w.input.n });
        // @ts-expect-error the engine has no queue that could be chosen
        w.http('c', { url: 'https://example.com', queue: 'mine' });
      },
    });
    expect(definition.steps).toHaveLength(3);
  });

  it('is answered by the test, attempt by attempt', async () => {
    const run = await testRun(
      workflow,
      { id: 'https://crm.example.com' },
      {
        steps: {
          find: (_, { attempt }) => {
            if (attempt === 1) throw new Error('503');
            return { status: 200, body: { name: 'Ada' } };
          },
          tell: (sent: { readonly body: unknown }) => ({ status: 201, body: sent.body }),
        },
      },
    );
    expect(await run.result()).toEqual({ name: 'Ada', status: 201 });
  });

  it('without an answer of the test is refused with what to say', async () => {
    await expect(testRun(workflow, { id: 'x' }, { steps: { find: () => ({}) } })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'crm/tell is an HTTP call, and a test calls nobody',
    });
  });
});
