import { describe, expect, it } from 'vitest';
import { followJob } from '../../docs/patterns/long-poll.js';
import { patternWorld } from '../support/pattern-world.js';

const asked: number[] = [];
const workflow = followJob(
  async (_job, cursor) => {
    asked.push(cursor);
    return { state: asked.length < 10 ? 'running' : 'done', cursor: cursor + 5 };
  },
  '10ms',
  4,
);
const client = await patternWorld([workflow]);

describe('the long poll', () => {
  it('asks until the job is done, over three runs that hand their cursor on, and answers as the first', async () => {
    const run = await client.trigger(workflow, { job: 'j', cursor: 0 });
    await expect(run.result({ timeoutMs: 20_000 })).resolves.toEqual({ cursor: 50 });
    expect(asked).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
    const { runs } = await client.list({ workflow: workflow.slug });
    expect(runs.map(({ state }) => state)).toEqual(['COMPLETED', 'CONTINUED', 'CONTINUED']);
  });
});
