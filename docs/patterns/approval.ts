/** Large refunds need a person's decision; who does not decide in time is joined by the team lead, then it lapses. */
import { defineWorkflow } from '@ductor/sdk';
import { z } from 'zod';

/** What the workflow needs of the world. */
export interface RefundServices {
  /** Lets people know that a decision waits for them, and under which run. */
  ask(people: readonly string[], order: string): Promise<void>;
  payOut(order: string, cents: number, key: string): Promise<void>;
  tell(customer: string, text: string): Promise<void>;
}

export const refund = (services: RefundServices, patience = { agent: '4h', all: '1d' }) =>
  defineWorkflow({
    slug: 'refund',
    input: z.object({ order: z.string(), customer: z.string(), cents: z.number(), agent: z.string() }),
    build(w) {
      w.step('ask', { run: ({ agent, order }) => services.ask([agent], order) });
      const decision = w.approval('decision', {
        assignees: [w.input.agent],
        options: ['pay', 'refuse'],
        timeout: patience.all,
        escalation: { after: patience.agent, assignees: [w.input.agent, 'team-lead'] },
      });
      const way = w.switch('way', { cases: { pay: decision.output.option.eq('pay') }, default: 'refuse' });
      w.step('pay-out', {
        after: way.on('pay'),
        run: ({ order, cents }, { idempotencyKey }) => services.payOut(order, cents, idempotencyKey),
      });
      w.step('refuse', {
        after: way.on('refuse'),
        input: { customer: w.input.customer, why: decision.output.comment },
        run: ({ customer, why }) => services.tell(customer, `no refund: ${why}`),
      });
      w.step('lapse', {
        onTimeout: decision,
        input: w.input.customer,
        run: (customer) => services.tell(customer, 'nobody decided in time; please ask again'),
      });
      return { option: decision.output.option };
    },
  });
