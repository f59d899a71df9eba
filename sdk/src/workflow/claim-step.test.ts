import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { testRun } from '../testing/test-run.js';
import { defineWorkflow } from './define-workflow.js';

const workflow = defineWorkflow({
  slug: 'pond',
  input: z.object({ state: z.string() }),
  build(w) {
    const routable = { attributes: w.input };
    const sale = w.claim('sale', { pool: 'west', routable, until: 'completed', timeout: '1h', exclude: ['bob'] });
    return { who: sale.output.recipient.id, item: sale.output.item_id };
  },
});

describe('a step that waits for a claim', () => {
  it('is written as it is asked for', () => {
    expect(workflow.definition.steps).toMatchObject([
      {
        ...{ ref: 'sale', type: 'STEP_TYPE_CLAIM' },
        args: { pool: 'west', routable: { attributes: 'input' }, until: 'completed', timeout: '1h' },
      },
    ]);
  });

  it('is claimed by whom a test names', async () => {
    const run = await testRun(workflow, { state: 'NY' }, { routing: { sale: ['ada'] } });
    expect(await run.result()).toEqual({ who: 'ada', item: 'decision-sale' });
  });
});
