/** How decisions end: every outcome, its class, and the reason that led to it. */

/** Outcomes and their classes. Infrastructure outcomes are retried and never kept as an answer. */
export const OUTCOMES = {
  assigned: 'success',
  offered: 'success',
  duplicate: 'success',
  queued: 'waiting',
  queued_for_claim: 'waiting',
  deferred: 'waiting',
  no_eligible_recipient: 'refused',
  recipient_capacity_exhausted: 'refused',
  pool_disabled: 'refused',
  pool_closed: 'refused',
  no_matching_rule: 'refused',
  no_bid: 'refused',
  below_reserve: 'refused',
  insufficient_funds: 'refused',
  offers_exhausted: 'refused',
  claim_expired: 'refused',
  all_cooling_down: 'refused',
  max_depth_exceeded: 'refused',
  dropped: 'refused',
  dead_lettered: 'refused',
  rejected: 'refused',
  capacity_authority_unavailable: 'infrastructure',
  deadline_exceeded: 'infrastructure',
  error: 'infrastructure',
} as const;

/** How a decision ended. */
export type Outcome = keyof typeof OUTCOMES;

/** Success, waiting, refused or infrastructure. */
export type OutcomeClass = (typeof OUTCOMES)[Outcome];

/** Why a stage ended early, and the outcome that is when no fallback takes over. */
export const REASONS = {
  invalid_routable: 'rejected',
  routable_expired: 'rejected',
  duplicate_routable: 'duplicate',
  no_matching_rule: 'no_matching_rule',
  dropped_by_rule: 'dropped',
  held_by_rule: 'queued',
  pool_not_found: 'error',
  pool_disabled: 'pool_disabled',
  pool_kill_switched: 'pool_disabled',
  pool_closed: 'pool_closed',
  max_depth_exceeded: 'max_depth_exceeded',
  routing_cycle: 'max_depth_exceeded',
  enrichment_failed: 'error',
  deadline_exceeded: 'deadline_exceeded',
  no_eligible_recipient: 'no_eligible_recipient',
  all_cooling_down: 'all_cooling_down',
  strategy_error: 'error',
  sla_breach_predicted: 'no_eligible_recipient',
  sla_breached: 'no_eligible_recipient',
  offers_exhausted: 'offers_exhausted',
  claim_expired: 'claim_expired',
  recipient_capacity_exhausted: 'recipient_capacity_exhausted',
  capacity_authority_unavailable: 'capacity_authority_unavailable',
  queue_full: 'max_depth_exceeded',
  // Nobody is on the line any more who could be told: it is kept for people.
  queue_expired: 'dead_lettered',
} as const satisfies Record<string, Outcome>;

/** Why a stage ended early. */
export type Reason = keyof typeof REASONS;

/** Why work does not wait in a queue: it has waited as long as it may, or the queue is full. */
export type QueueBar = Extract<Reason, 'queue_expired' | 'queue_full'>;
