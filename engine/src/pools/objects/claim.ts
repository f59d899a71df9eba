/** How recipients claim work, and how much of it. */
import { z } from 'zod';
import { count, duration, refuse } from '../fields/primitives.js';
import { wavesField } from '../fields/waves-field.js';
import { zoneField } from '../schedule/schedule.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

const budget = z
  .strictObject({
    max_claims: count(1, 10_000),
    period: z.union([
      z.strictObject({ fixed: z.enum(['hour', 'day', 'week', 'month']), timezone: zoneField.optional() }),
      z.strictObject({ rolling: duration(MINUTE, 366 * DAY) }),
    ]),
    max_open: count(1, 10_000).optional(),
    cooldown_after_claim: duration(0, DAY).optional(),
    release_refunds: z.boolean().optional(),
    scope: z.enum(['recipient', 'team']).optional(),
    carry_over: count(0, 10_000).optional(),
  })
  .superRefine(({ carry_over: carryOver = 0, period }, context) => {
    if (carryOver > 0 && 'rolling' in period) {
      refuse(context, 'has no period to come from: a rolling one has no end', 'Leave it out.', ['carry_over']);
    }
  });

/** `config.claim` of a pool. */
export const claimField = z.strictObject({
  claim_ttl: duration(SECOND, 30 * DAY).optional(),
  waves: wavesField.optional(),
  allow_release: z.boolean().optional(),
  cooldown_after_release: duration(0, DAY).optional(),
  budget: budget.optional(),
});
