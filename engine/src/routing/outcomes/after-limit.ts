/**
 * How a recipient recovers from rate limits, as reports tell it.
 *
 *   free -> limited -> to be tried -> free | limited, for longer
 *
 * It is limited until the moment that its provider has named. From then on one piece of work tries it, in pools that
 * probe (seat-affinity.ts): a success frees it, a failure limits it again, twice as long each time. Invariants: 1. a
 * limit never becomes shorter; 2. only work that began after its end says whether it is over.
 */
import { hash64 } from '../core/hash.js';

/** What is known of it. */
export interface Recovery {
  /** null: it never was limited. */
  readonly cooldownUntilUs: number | null;
  /** Limits in a row that it has not recovered from. */
  readonly limitEpisode: number;
  /** null: nobody tries it. */
  readonly probeUntilUs: number | null;
}

/** How work went. */
export interface LimitReport {
  readonly recipientId: string;
  readonly isSuccess: boolean;
  /** When its limit resets; null: it met none. */
  readonly resetAtUs: number | null;
  /** When the work began. */
  readonly startedUs: number;
}

/** How the pool has its seats recover; undefined: it has no seats. */
export interface RecoveryPolicy {
  readonly probes: boolean;
  /** Longest limit. */
  readonly maxUs: number;
  /** How long the second one lasts at least when nobody says it, halved. */
  readonly baseUs: number;
}

/** What a report came to. */
export interface Recovered extends Recovery {
  /** Whether it is limited by this report: whoever is bound to it has to go elsewhere. */
  readonly isLimited: boolean;
}

/** Share of a limit, in hundredths, by which recipients come back at different moments. */
const JITTER_PCT = 15n;
/** Beyond it doubling changes nothing: the longest limit is reached long before. */
const MAX_EPISODE = 30;

/** When a failed trial lets it be tried again. */
function againUs({ recipientId }: LimitReport, episode: number, nowUs: number, policy: RecoveryPolicy): number {
  const us = Math.min(policy.baseUs * 2 ** episode, policy.maxUs);
  const jitterUs = Number((hash64(recipientId, String(episode)) % JITTER_PCT) * BigInt(us)) / 100;
  return nowUs + us + Math.floor(jitterUs);
}

function isOver({ cooldownUntilUs }: Recovery, momentUs: number): boolean {
  return cooldownUntilUs === null || cooldownUntilUs <= momentUs;
}

/** See above. */
export function afterLimit(
  before: Recovery,
  report: LimitReport,
  nowUs: number,
  policy: RecoveryPolicy | undefined,
): Recovered {
  const { resetAtUs, isSuccess, startedUs } = report;
  const { limitEpisode, cooldownUntilUs } = before;
  const limitedUntil = (untilUs: number, episode: number): Recovered => ({
    ...{ cooldownUntilUs: Math.max(cooldownUntilUs ?? 0, untilUs), probeUntilUs: null, isLimited: true },
    limitEpisode: Math.min(episode, MAX_EPISODE),
  });
  if (resetAtUs !== null) {
    const untilUs = policy === undefined ? resetAtUs : Math.min(Math.max(resetAtUs, nowUs), nowUs + policy.maxUs);
    // Others that meet the same limit do not make it a second one.
    return limitedUntil(untilUs, isOver(before, nowUs) ? limitEpisode + 1 : Math.max(limitEpisode, 1));
  }
  const isTrial = limitEpisode > 0 && isOver(before, nowUs) && isOver(before, startedUs);
  if (!isTrial) return { ...before, isLimited: false };
  if (isSuccess) return { cooldownUntilUs, limitEpisode: 0, probeUntilUs: null, isLimited: false };
  if (policy?.probes !== true) return { ...before, isLimited: false };
  return limitedUntil(againUs(report, limitEpisode, nowUs, policy), limitEpisode + 1);
}
