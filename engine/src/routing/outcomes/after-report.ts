/** What is known of a recipient after one more report of how its work went. */
import type { PoolConfig } from '../../pools/index.js';
import { afterHealthOutcome } from '../pipeline/health.js';
import { ratesOf } from '../standing/sql/learned-columns.js';
import { afterLatency } from '../strategies/latency-ewma.js';
import { bucketOf, RESPONSE_BUCKETS } from '../strategies/sla-deadline.js';
import { afterOutcome } from '../strategies/success-counts.js';
import { afterLimit, type RecoveryPolicy } from './after-limit.js';
import type { LearnedRow } from './sql/recipient-facts.js';

/** Successes and failures are worth half after a day. */
const HALF_LIFE_US = 86_400_000_000;
/** What outcomes do not tell of. */
const NO_LOAD = { held: 0, committed: 0, admittedToday: 0, committedToday: 0 };
/** Beyond so many response times all counts are halved: old ones are forgotten. */
const MAX_RESPONSES = 10_000;

/** How work went. */
export interface Report {
  readonly recipientId: string;
  readonly isSuccess: boolean;
  /** How long it took, ms; null: not known. */
  readonly latencyMs: number | null;
  /** The recipient has a rate limit until then; null: it has none. */
  readonly resetAtUs: number | null;
}

/** What a report came to. */
export interface Reported {
  readonly row: LearnedRow;
  /** Whether the recipient is limited by it: whoever is bound to its seat has to go elsewhere. */
  readonly isLimited: boolean;
}

/** When it was reported, and how many of how many recipients of the pool are ejected then. */
export interface ReportMoment {
  readonly nowUs: number;
  readonly ejected: number;
  readonly total: number;
  /** When the work began; default: now. */
  readonly startedUs?: number | undefined;
}

function afterResponse(responses: readonly number[] | null, latencyMs: number): readonly number[] {
  const before = responses ?? new Array<number>(RESPONSE_BUCKETS).fill(0);
  const sum = before.reduce((total, count) => total + count, 0);
  const kept = sum < MAX_RESPONSES ? before : before.map((count) => Math.floor(count / 2));
  const bucket = bucketOf(latencyMs);
  return kept.map((count, index) => (index === bucket ? count + 1 : count));
}

/** See above. A rate limit is no failure: it ends at a known moment. */
export function afterReport(
  row: LearnedRow,
  report: Report,
  { nowUs, startedUs = nowUs, ...others }: ReportMoment,
  settings: NonNullable<PoolConfig['health']>,
  policy?: RecoveryPolicy,
): Reported {
  const { recipientId, isSuccess, latencyMs, resetAtUs } = report;
  const facts = { ...NO_LOAD, ...ratesOf(row) };
  const rates = afterOutcome(facts, { atUs: nowUs, isSuccess }, HALF_LIFE_US);
  const latency =
    latencyMs === null
      ? undefined
      : afterLatency(facts, { atUs: nowUs, latencyUs: Math.round(latencyMs * 1000), isSuccess });
  const before = {
    ...{ failuresInARow: row.failures_in_a_row, episode: row.episode },
    ejectedUntilUs: row.ejected_until ?? undefined,
  };
  const isRated = isSuccess || resetAtUs === null;
  const health = isRated
    ? afterHealthOutcome(before, { recipientId, atUs: nowUs, isSuccess }, settings, others)
    : before;
  const recovery = {
    cooldownUntilUs: row.cooldown_until,
    limitEpisode: row.limit_episode,
    probeUntilUs: row.probe_until,
  };
  const limit = afterLimit(recovery, { recipientId, isSuccess, resetAtUs, startedUs }, nowUs, policy);
  const after = {
    ...{ latency_us: latency?.latencyUs ?? row.latency_us, latency_at: latency?.latencyAtUs ?? row.latency_at },
    ...{ success_milli: rates.successMilli, failure_milli: rates.failureMilli, rated_at: rates.ratedAtUs },
    responses: latencyMs === null || !isSuccess ? row.responses : afterResponse(row.responses, latencyMs),
    ...{ failures_in_a_row: health.failuresInARow, episode: health.episode },
    ejected_until: health.ejectedUntilUs ?? null,
    ...{ cooldown_until: limit.cooldownUntilUs, limit_episode: limit.limitEpisode, probe_until: limit.probeUntilUs },
  };
  return { row: after, isLimited: limit.isLimited };
}
