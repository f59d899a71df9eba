import type { RecipientFacts } from '../../core/candidate.js';

/** Columns of what was learned of a recipient from how its work went. */
export interface LearnedColumns {
  readonly latency_us: number | null;
  readonly latency_at: number | null;
  readonly success_milli: number | null;
  readonly failure_milli: number | null;
  readonly rated_at: number | null;
  readonly responses: readonly number[] | null;
  readonly ejected_until: number | null;
  readonly cooldown_until: number | null;
  readonly limit_episode: number;
  readonly probe_until: number | null;
}

/** Latency and successes as facts; absent where nothing is known. */
export function ratesOf(
  row: LearnedColumns,
): Pick<RecipientFacts, 'latencyUs' | 'latencyAtUs' | 'successMilli' | 'failureMilli' | 'ratedAtUs'> {
  return {
    ...(row.latency_us === null || row.latency_at === null
      ? {}
      : { latencyUs: row.latency_us, latencyAtUs: row.latency_at }),
    ...(row.success_milli === null || row.failure_milli === null || row.rated_at === null
      ? {}
      : { successMilli: row.success_milli, failureMilli: row.failure_milli, ratedAtUs: row.rated_at }),
  };
}

/** How a recipient recovers from a rate limit; absent when there is none to recover from. */
function recoveryOf(row: LearnedColumns): Pick<RecipientFacts, 'limitEpisode' | 'probeUntilUs'> {
  if (row.limit_episode === 0) return {};
  const { limit_episode: limitEpisode, probe_until: probeUntilUs } = row;
  return { limitEpisode, ...(probeUntilUs === null ? {} : { probeUntilUs }) };
}

/** A rate limit goes before an ejection as long as it lasts: it is never ignored. */
function cooldownOf(
  { ejected_until: ejected, cooldown_until: cooldown }: LearnedColumns,
  nowUs: number,
): Pick<RecipientFacts, 'cooldownUntilUs' | 'isEjected'> {
  const isLimited = cooldown !== null && cooldown > nowUs;
  if (isLimited) return { cooldownUntilUs: cooldown, isEjected: false };
  return ejected !== null && ejected > nowUs ? { cooldownUntilUs: ejected, isEjected: true } : {};
}

/** All that was learned as facts, at a moment; absent where nothing is known. */
export function learnedFrom(row: LearnedColumns, nowUs: number): Partial<RecipientFacts> {
  return {
    ...ratesOf(row),
    ...(row.responses === null ? {} : { responses: row.responses }),
    ...cooldownOf(row, nowUs),
    ...recoveryOf(row),
  };
}
