/** The work of this app: a lead that somebody left on a web page. */
import { z } from 'zod';

/** A lead as it comes in. */
export const leadSchema = z.object({
  id: z.string().min(1).max(64),
  name: z.string().min(1).max(200),
  state: z.string().length(2),
  amount: z.number().positive(),
});

/** A lead as it comes in. */
export type Lead = z.infer<typeof leadSchema>;

/** What enrichment adds. */
export interface EnrichedLead extends Lead {
  readonly region: string;
  readonly householdIncome: number;
}
