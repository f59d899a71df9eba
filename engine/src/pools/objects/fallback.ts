/** What becomes of work that found no recipient. */
import { z } from 'zod';
import { count, duration, idField, refuse } from '../fields/primitives.js';

/** Reasons a fallback may answer to. */
export const FALLBACK_REASONS = [
  'no_eligible_recipient',
  'recipient_capacity_exhausted',
  'offers_exhausted',
  'claim_expired',
  'sla_breach_predicted',
  'pool_closed',
  'no_bid',
  'below_reserve',
] as const;

/** Reasons that are outages: they reach a fallback only when it says `on_outage`, so that none becomes a stampede. */
export const OUTAGE_REASONS = ['capacity_authority_unavailable', 'pool_disabled'] as const;

/** Kinds of fallback. */
export const FALLBACK_KINDS = [
  'none',
  'queue',
  'retry',
  'default_recipient',
  'overflow',
  'catchall',
  'claim',
  'next_open',
  'dead_letter',
] as const;

const DAY_MS = 86_400_000;

/** One fallback. `target` names its pool or recipient; without it the pool's own `*_id` fields do. */
export const fallbackField = z
  .strictObject({
    kind: z.enum(FALLBACK_KINDS),
    on: z.array(z.enum(FALLBACK_REASONS)).max(FALLBACK_REASONS.length).optional(),
    on_outage: z.boolean().optional(),
    target: idField.optional(),
    delay: duration(100, DAY_MS).optional(),
    max_attempts: count(1, 20).optional(),
    ttl: duration(1000, 30 * DAY_MS).optional(),
  })
  .superRefine((value, context) => {
    if (value.kind === 'retry' && value.delay === undefined) {
      refuse(context, 'is missing', 'Say how long a retry waits, such as "30s".', ['delay']);
    }
  });

/** A checked fallback. */
export type Fallback = z.output<typeof fallbackField>;
