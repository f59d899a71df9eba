/** The clocks that a pool puts on its work, and what is done when one has run out. */
import { z } from 'zod';
import { count, duration, refuse, text } from '../fields/primitives.js';

const SECOND = 1000;
const DAY = 86_400 * SECOND;

/** By how much a breach raises the priority; undefined: it is another action. */
export function raisedBy(action: string): number | undefined {
  const [, by] = /^escalate_priority(?:\(([1-9]\d{0,6})\))?$/.exec(action) ?? [undefined, ''];
  return by === '' ? undefined : Number(by ?? 1);
}

const breachAction = z.string().superRefine((value, context) => {
  if (['notify', 'reroute', 'fallback'].includes(value) || (raisedBy(value) ?? 0) > 0) return;
  refuse(
    context,
    'is nothing that is done about a breach',
    'Use "notify", "escalate_priority", "escalate_priority(5)", "reroute" or "fallback".',
  );
});

/** The clocks of a pool. */
export const slaField = z
  .strictObject({
    pickup_within: duration(SECOND, 90 * DAY).optional(),
    first_response_within: duration(SECOND, 90 * DAY).optional(),
    resolve_within: duration(SECOND, 90 * DAY).optional(),
    clock: z.enum(['elapsed', 'business']).optional(),
    business_schedule: z.enum(['pool', 'recipient']).optional(),
    start_event: z.enum(['received', 'routed', 'assigned']).optional(),
    warn_at_pct: count(1, 100).optional(),
    on_breach: z.array(breachAction).max(4).optional(),
    reroute_exclude_current: z.boolean().optional(),
    pause_states: z.array(text(64, 1)).max(16).optional(),
    min_headroom: duration(0, 90 * DAY).optional(),
    priority_boost_per_min: count(0, 1000).optional(),
  })
  .superRefine((value, context) => {
    const steps = [value.pickup_within, value.first_response_within, value.resolve_within];
    const seconds = steps.flatMap((each) => (each === undefined ? [] : [Number.parseFloat(each)]));
    if (seconds.every((each, index) => index === 0 || each >= (seconds[index - 1] ?? 0))) return;
    refuse(context, 'has clauses out of order', 'Let pickup_within ≤ first_response_within ≤ resolve_within.');
  })
  .superRefine(({ priority_boost_per_min: boost = 0, clock, start_event: start }, context) => {
    // Kept without a word it would be believed to work.
    if (boost === 0) return;
    if (clock === 'business')
      refuse(
        context,
        'raises waiting work (priority_boost_per_min) by all time, and not by the business clock',
        'Let clock be "elapsed", or leave priority_boost_per_min out and raise config.queue.age_weight_per_min.',
      );
    if (start === 'assigned')
      refuse(
        context,
        'raises waiting work (priority_boost_per_min) by a clock that begins once it is assigned',
        'Let start_event be "received" or "routed", or leave priority_boost_per_min out.',
      );
  });
