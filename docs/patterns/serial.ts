/** Orders of one customer are worked off one after another, as they came; those of different customers side by side. */
import { defineWorkflow } from '@ductor/sdk';
import { z } from 'zod';

const Order = z.object({ customer: z.string(), amount: z.number() });

/** Takes money off the credit of a customer, and tells what is left. */
export type Charge = (customer: string, amount: number) => Promise<number>;

export const ordering = (charge: Charge) =>
  defineWorkflow({
    slug: 'ordering',
    input: Order,
    // The run holds its customer's key from its first step until it has ended, through waits, retries and crashes.
    concurrency: ({ customer }) => [{ key: customer, limit: 1 }],
    build(w) {
      const checked = w.wait('check', { duration: '100ms' });
      const charged = w.step('charge', {
        after: checked,
        input: w.input,
        run: ({ customer, amount }) => charge(customer, amount),
      });
      return charged.output;
    },
  });
