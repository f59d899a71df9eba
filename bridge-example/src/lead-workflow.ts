/** The workflow of this app: enrich a lead, score it, give the visitor a moment, tell the sales team. */
import { type Workflow, NonRetryableError, cel, defineWorkflow } from '@ductor/sdk';
import { type EnrichedLead, type Lead, leadSchema } from './lead.js';
import type { Provider } from './provider.js';

const REGIONS: Readonly<Record<string, string>> = {
  CA: 'west',
  NV: 'west',
  TX: 'south',
  FL: 'south',
  NY: 'east',
  MA: 'east',
};

/** What a run answers. */
export interface LeadAnswer {
  readonly lead: string;
  readonly score: number;
  readonly notified: boolean;
}

/**
 * The lead workflow.
 *
 * @param provider the outside world
 * @param pauseFor how long the visitor has to change their mind: "1s"
 */
export function leadWorkflow(provider: Provider, pauseFor: string): Workflow<Lead, LeadAnswer> {
  return defineWorkflow({
    slug: 'lead-intake',
    title: 'Lead intake',
    input: leadSchema,
    build(w) {
      const enriched = w.step('enrich', {
        retry: { maxAttempts: 5, initialInterval: '200ms', nonRetryable: ['UnknownStateError'] },
        timeout: '10s',
        run: async (lead, ctx): Promise<EnrichedLead> => {
          const line = { effect: 'enrich', lead: lead.id, key: ctx.idempotencyKey };
          provider.noteAttempt({ ...line, attempt: ctx.attempt });
          const region = REGIONS[lead.state];
          if (region === undefined) throw new NonRetryableError(`there is no region for state ${lead.state}`);
          const householdIncome = await provider.income(lead.id, ctx.attempt, ctx.signal);
          provider.accept(line);
          return { ...lead, region, householdIncome };
        },
      });
      const { householdIncome: income, amount } = enriched.output;
      const scored = w.project('score', {
        lead: enriched.output.id,
        score: cel<number>`${income} / 1000.0 + (${amount} > 20000.0 ? 25.0 : 0.0)`,
      });
      const paused = w.wait('reconsider', { duration: pauseFor, after: scored });
      const notified = w.step('notify', {
        after: paused,
        input: { lead: enriched.output, score: scored.output.score },
        retry: { maxAttempts: 5, initialInterval: '200ms' },
        timeout: '10s',
        run: async ({ lead }, ctx) => {
          const line = { effect: 'notify', lead: lead.id, key: ctx.idempotencyKey };
          provider.noteAttempt({ ...line, attempt: ctx.attempt });
          await provider.mail(line, ctx.signal);
          return true;
        },
      });
      return { lead: scored.output.lead, score: scored.output.score, notified: notified.output };
    },
  });
}
