/** A task keeps one account for its calls; rate limits move it to another one, and retries climb to better models. */
import { type AccountSeatASTNode, defineWorkflow, type ModelASTNode, PoolManager, type PoolNode } from '@ductor/sdk';
import { z } from 'zod';

/** Asks a model on behalf of an account. */
export type Ask = (seat: string, model: string, prompt: string) => Promise<Reply>;

/** An answer and whether it is good enough; or until when the account is rate limited, milliseconds since 1970. */
export type Reply = { readonly text: string; readonly isGood: boolean } | { readonly resetAtMs: number };

const accounts: PoolNode<AccountSeatASTNode> = {
  poolId: 'accounts',
  strategy: 'least-recently-selected',
  items: [{ id: 'north' }, { id: 'south' }],
  fallbackItem: { id: 'pay-as-you-go' },
};
const models: PoolNode<ModelASTNode> = {
  poolId: 'models',
  strategy: 'escalate-on-retry',
  items: [{ modelId: 'small' }, { modelId: 'large' }],
  minSuccessRate: 0.5,
  minSamples: 20,
};

export function research(ask: Ask, pools = new PoolManager()) {
  async function answer(prompt: string, runId: string, retryAttempt: number): Promise<string> {
    const model = pools.selectModel(models, runId, retryAttempt);
    for (;;) {
      const seat = pools.selectSeat(accounts, runId);
      const reply = await ask(seat.id, model.modelId, prompt);
      if ('text' in reply) {
        pools.recordModelOutcome('models', model.modelId, reply.isGood);
        if (!reply.isGood) throw new Error(`${model.modelId} did not answer well`);
        return reply.text;
      }
      if (seat === accounts.fallbackItem) throw new Error('every account is rate limited');
      pools.recordRateLimit429('accounts', seat.id, reply.resetAtMs);
    }
  }
  return defineWorkflow({
    slug: 'research',
    input: z.object({ question: z.string() }),
    build(w) {
      const retry = { maxAttempts: 4, initialInterval: '10ms' };
      const notes = w.step('notes', {
        input: w.input.question,
        retry,
        run: (question, { runId, attempt }) => answer(`notes on ${question}`, runId, attempt - 1),
      });
      const report = w.step('report', {
        input: notes.output,
        retry,
        run: (text, { runId, attempt }) => answer(`report of ${text}`, runId, attempt - 1),
      });
      w.step('release', { always: report, run: (_, { runId }) => pools.releaseRunSeats(runId) });
      return report.output;
    },
  });
}
