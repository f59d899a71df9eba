/** A mail to each of many thousand addresses, a hundred at a time; some may fail without failing the rest. */
import { defineWorkflow, NonRetryableError } from '@ductor/sdk';
import { z } from 'zod';

/** Sends one mail; says whether the address exists. */
export type SendMail = (address: string, key: string) => Promise<boolean>;

export const newsletter = (send: SendMail) =>
  defineWorkflow({
    slug: 'newsletter',
    input: z.object({ addresses: z.array(z.string()) }),
    build(w) {
      const mails = w.forEach(
        'mail',
        w.input.addresses,
        (address) =>
          w.step('send', {
            input: address,
            async run(to, { idempotencyKey }) {
              if (!(await send(to, idempotencyKey))) throw new NonRetryableError(`nobody is at ${to}`);
            },
          }),
        { maxParallel: 100, tolerate: '2%' },
      );
      // Counts, and the first failures; reading mails.output instead would collect what each item came to.
      return mails.counts;
    },
  });
