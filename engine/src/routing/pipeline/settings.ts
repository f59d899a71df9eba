/** A pool's configuration with everything that was left out filled in, durations in microseconds. */
import type { BudgetTerms, ClaimTerms, ClaimWave } from '../../claims/index.js';
import { fallbacksOf, msOf, raisedBy, type Fallback, type ParamsOf, type PoolConfig } from '../../pools/index.js';

/** What an SLA can ask for: that it is accepted, that somebody has answered, that it is done. */
export type SlaClause = 'pickup' | 'first_response' | 'resolve';

/** How late work is routed again. */
export interface SlaReroute {
  readonly excludesCurrent: boolean;
  /** Whether the fallback of the pool has it at once; else its recipients are asked first. */
  readonly toFallback: boolean;
}

/** The clock of work. */
export interface SlaSettings {
  /** First clause that is there: when somebody has to be at it. */
  readonly respondWithinUs: number | undefined;
  /** Whether only time counts in which the pool is open. */
  readonly isBusiness: boolean;
  /** Whether it counts from when the work came in; else from the decision. */
  readonly startsWhenReceived: boolean;
  /** By clause, us. */
  readonly within: Readonly<Partial<Record<SlaClause, number>>>;
  /** Share of a clause after which it is warned of, per cent. */
  readonly warnPct: number;
  /** Whether the recipient's hours count in the place of the pool's, once there is one. */
  readonly byRecipient: boolean;
  /** Whether late work is routed again, and the recipient that was late may get it. */
  readonly reroute: SlaReroute | undefined;
  /** By how much a breach raises the priority of the work. */
  readonly escalateBy: number;
  /** Work states of assignments in which clocks stand still. */
  readonly pauseStates: readonly string[];
  /** Recipients with less time left than this count as late. */
  readonly minHeadroomUs: number;
}

/** How work is claimed. */
export interface ClaimSettings {
  /** How long it may wait to be claimed. */
  readonly ttlUs: number;
  readonly waves: readonly ClaimWave[];
  readonly terms: ClaimTerms;
}

/** In which order waiting work is looked at. */
export type QueueOrder = 'priority_age' | 'fifo' | 'lifo';

/** How work waits in a pool. */
export interface QueueSettings {
  readonly order: QueueOrder;
  /** Minutes of priority that each minute of waiting is worth. */
  readonly ageWeight: number;
  /** And each minute that the clock of the SLA counts, where that begins when work comes in. */
  readonly boost: number;
  /** Most work that waits. */
  readonly maxDepth: number;
  /** How long work may wait. */
  readonly ttlUs: number;
}

/** What the pipeline asks of a pool. */
export interface PoolSettings {
  /** Whether recipients take work by themselves; else it is given to them. */
  readonly isClaim: boolean;
  readonly claimQueueId: string | undefined;
  /** How what is put in a claim queue is claimed, by this pool or by its fallback. */
  readonly claim: ClaimSettings;
  readonly timeoutUs: number;
  readonly requiresAcceptance: boolean;
  /** How long a recipient may take to answer an offer. */
  readonly offerTimeoutUs: number;
  /** So many recipients are offered it, one after the other. */
  readonly maxOffers: number;
  readonly maxDepth: number;
  readonly maxAttempts: number;
  readonly slateSize: number;
  readonly panicPct: number;
  readonly slowStart: { readonly windowUs: number; readonly minPct: number } | undefined;
  readonly fallbacks: readonly Fallback[];
  readonly overflowPoolId: string | undefined;
  readonly catchallPoolId: string | undefined;
  readonly fallbackRecipientId: string | undefined;
  /** Units above its limit that a recipient may have and still be a candidate; admission never looks at it. */
  readonly overCapacity: number;
  /** Share of each limit kept free for what is at least as urgent. */
  readonly headroom: { readonly pct: number; readonly priority: number } | undefined;
  readonly sla: SlaSettings | undefined;
  readonly queue: QueueSettings;
}

function slaOf(sla: PoolConfig['sla']): SlaSettings | undefined {
  if (sla === undefined) return undefined;
  const does = sla.on_breach ?? [];
  const reroutes = does.includes('reroute');
  const excludesCurrent = sla.reroute_exclude_current ?? true;
  const within = sla.pickup_within ?? sla.first_response_within ?? sla.resolve_within;
  return {
    respondWithinUs: within === undefined ? undefined : usOf(within, '0s'),
    isBusiness: sla.clock === 'business',
    startsWhenReceived: (sla.start_event ?? 'received') === 'received',
    minHeadroomUs: usOf(sla.min_headroom, '0s'),
    within: {
      ...(sla.pickup_within !== undefined && { pickup: usOf(sla.pickup_within, '0s') }),
      ...(sla.first_response_within !== undefined && { first_response: usOf(sla.first_response_within, '0s') }),
      ...(sla.resolve_within !== undefined && { resolve: usOf(sla.resolve_within, '0s') }),
    },
    warnPct: sla.warn_at_pct ?? 80,
    byRecipient: sla.business_schedule === 'recipient',
    // Who is routed again falls back anyway when there is nobody else.
    reroute: reroutes || does.includes('fallback') ? { excludesCurrent, toFallback: !reroutes } : undefined,
    escalateBy: does.reduce((sum, what) => sum + (raisedBy(what) ?? 0), 0),
    pauseStates: sla.pause_states ?? [],
  };
}

function usOf(duration: string | undefined, byDefault: string): number {
  return msOf(duration ?? byDefault) * 1000;
}

function budgetOf(budget: NonNullable<PoolConfig['claim']>['budget']): BudgetTerms | null {
  if (budget === undefined) return null;
  const { period } = budget;
  return {
    scope: budget.scope ?? 'recipient',
    maxClaims: budget.max_claims,
    period:
      'fixed' in period
        ? { fixed: period.fixed, timezone: period.timezone ?? 'UTC' }
        : { rollingUs: usOf(period.rolling, '0s') },
    maxOpen: budget.max_open ?? null,
    cooldownAfterClaimUs: usOf(budget.cooldown_after_claim, '0s'),
    refundsReleases: budget.release_refunds ?? false,
    carryOver: budget.carry_over ?? 0,
  };
}

/** What minutes are worth: a clock of an SLA that begins with the decision counts what waiting does. */
export function weightsOf(
  ageWeight = 1,
  boost = 0,
  startEvent = 'received',
): Pick<QueueSettings, 'ageWeight' | 'boost'> {
  return startEvent === 'received' ? { ageWeight, boost } : { ageWeight: ageWeight + boost, boost: 0 };
}

function queueOf({ queue = {}, sla }: PoolConfig): QueueSettings {
  return {
    order: queue.order ?? 'priority_age',
    ...weightsOf(queue.age_weight_per_min, sla?.priority_boost_per_min, sla?.start_event),
    maxDepth: queue.max_depth ?? 10_000,
    ttlUs: usOf(queue.ttl, '24h'),
  };
}

/** Waves and time as the strategy says, else as the configuration does. */
function claimOf({ claim = {} }: PoolConfig, shark: ParamsOf<'shark_tank'> | undefined): ClaimSettings {
  const said = shark?.waves ?? claim.waves ?? [];
  const waves = said.length === 0 ? [{}] : said;
  return {
    ttlUs: usOf(shark?.claim_ttl ?? claim.claim_ttl, '15m'),
    waves: waves.map(({ size, after }) => ({ size: size ?? null, afterUs: usOf(after, '0s') })),
    terms: {
      allowsRelease: claim.allow_release ?? true,
      cooldownAfterReleaseUs: usOf(claim.cooldown_after_release, '0s'),
      budget: budgetOf(claim.budget),
    },
  };
}

/**
 * The settings of a checked configuration.
 *
 * @param shark parameters of the strategy shark_tank, where it is the pool's
 */
export function settingsOf(config: PoolConfig, shark?: ParamsOf<'shark_tank'>): PoolSettings {
  const { slow_start: slow, capacity_headroom_pct: pct = 0, headroom_priority: priority, sla } = config;
  return {
    isClaim: config.routing_mode === 'claim' || shark !== undefined,
    claimQueueId: config.claim_queue_id,
    claim: claimOf(config, shark),
    timeoutUs: usOf(config.default_timeout, '30s'),
    requiresAcceptance: config.requires_acceptance ?? false,
    offerTimeoutUs: usOf(config.offer_timeout, '60s'),
    maxOffers: config.max_offers ?? 5,
    maxDepth: config.max_routing_depth ?? 3,
    maxAttempts: config.max_admission_attempts ?? 3,
    slateSize: config.slate_size ?? 1,
    panicPct: config.health?.panic_pct ?? 50,
    slowStart: slow === undefined ? undefined : { windowUs: usOf(slow.window, '0s'), minPct: slow.min_pct ?? 10 },
    fallbacks: fallbacksOf(config),
    overflowPoolId: config.overflow_pool_id,
    catchallPoolId: config.catchall_pool_id,
    fallbackRecipientId: config.fallback_recipient_id,
    overCapacity: config.allow_over_capacity === true ? (config.over_capacity_budget ?? 0) : 0,
    headroom: pct === 0 || priority === undefined ? undefined : { pct, priority },
    sla: slaOf(sla),
    queue: queueOf(config),
  };
}
