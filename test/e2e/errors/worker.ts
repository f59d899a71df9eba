/** A worker whose one step fails with an error that others caused. Compiled with source maps by errors.test.ts. */
import { createWorker, defineWorkflow, NonRetryableError } from '@ductor/sdk';
import { z } from 'zod';

interface Card {
  readonly number: string;
}

class CardDeclined extends Error {
  override readonly name = 'CardDeclined';
}

function charge(card: Card): never {
  const refusals = new AggregateError([new RangeError('first bank'), new TypeError('second bank')], 'no bank paid');
  throw new CardDeclined(`card ${card.number} was declined`, { cause: refusals });
}

export const pays = defineWorkflow({
  slug: 'pays',
  input: z.object({ number: z.string() }),
  build: (w) =>
    w.step('charge', {
      input: w.input,
      run: (card) => {
        try {
          return charge(card);
        } catch (cause) {
          throw new NonRetryableError('the order is not paid', { cause });
        }
      },
    }).output,
});

const worker = createWorker({ workflows: [pays] });
await worker.ready;
console.log('worker ready');
