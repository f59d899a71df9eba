/** Two suppliers are asked at once and the first answer wins; when neither answers in time, the list price does. */
import { defineWorkflow } from '@ductor/sdk';
import { z } from 'zod';

/** Asks a supplier for a price in cents; stops asking when told so. */
export type AskSupplier = (supplier: string, article: string, signal: AbortSignal) => Promise<number>;

export const quote = (ask: AskSupplier) =>
  defineWorkflow({
    slug: 'quote',
    input: z.object({ article: z.string(), listCents: z.number(), patience: z.string() }),
    build(w) {
      const { article, listCents, patience } = w.input;
      const north = w.step('north', { input: article, run: (name, { signal }) => ask('north', name, signal) });
      const south = w.step('south', { input: article, run: (name, { signal }) => ask('south', name, signal) });
      const late = w.wait('late', { duration: patience });
      const listed = w.project('listed', listCents, { after: late });
      // The first of the three begins it; the others are stopped: an attempt by its signal, the wait at once.
      const price = w.project('price', w.firstOf(north, south, listed), {
        after: [north, south, listed],
        join: 'any',
        cancelLosers: true,
      });
      return price.output;
    },
  });
