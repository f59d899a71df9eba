/**
 * Ejection of recipients that fail: out after so many failures in a row, for longer each time, never for ever, and
 * never too many at once. State of a recipient: failures in a row, times it was ejected, and until when.
 */
import { msOf, type PoolConfig } from '../../pools/index.js';
import { hash64 } from '../core/hash.js';

/** What is known of a recipient's health. */
export interface Health {
  readonly failuresInARow: number;
  /** Times it was ejected, since the last long time without. */
  readonly episode: number;
  readonly ejectedUntilUs: number | undefined;
}

/** Nothing has happened yet. */
export const HEALTHY: Health = { failuresInARow: 0, episode: 0, ejectedUntilUs: undefined };

/** Share of a cooldown, in hundredths, by which recipients come back at different moments. */
const JITTER_PCT = 15n;

type Settings = NonNullable<PoolConfig['health']>;

/**
 * Health after an outcome.
 *
 * @param others how many of how many recipients of the pool are ejected now; an ejection that would exceed the pool's
 *   share does not happen, and one of a pool of few is always possible when none is ejected
 */
export function afterHealthOutcome(
  health: Health,
  outcome: { readonly recipientId: string; readonly atUs: number; readonly isSuccess: boolean },
  settings: Settings,
  others: { readonly ejected: number; readonly total: number },
): Health {
  const { consecutive = 5, max_ejected_pct: maxPct = 50 } = settings;
  const resetUs = msOf(settings.reset_after ?? '600s') * 1000;
  const isLongAgo = health.ejectedUntilUs !== undefined && outcome.atUs - health.ejectedUntilUs >= resetUs;
  const episode = isLongAgo ? 0 : health.episode;
  if (outcome.isSuccess) return { ...health, episode, failuresInARow: 0 };
  const failuresInARow = health.failuresInARow + 1;
  const isAllowed = others.total > 1 && (others.ejected + 1) * 100 <= maxPct * others.total;
  if (consecutive === 0 || failuresInARow < consecutive || !isAllowed) return { ...health, episode, failuresInARow };
  const us = Math.min(msOf(settings.base ?? '30s') * (episode + 1), msOf(settings.max ?? '300s')) * 1000;
  const jitterUs = Number((hash64(outcome.recipientId, String(episode)) % JITTER_PCT) * BigInt(us)) / 100;
  const untilUs = outcome.atUs + us + Math.floor(jitterUs);
  // Never shortened: a later and shorter one must not end an earlier one.
  return { failuresInARow: 0, episode: episode + 1, ejectedUntilUs: Math.max(untilUs, health.ejectedUntilUs ?? 0) };
}

/**
 * Whether so few are healthy that ejections are ignored: better a recipient that may fail than none.
 *
 * @param healthy of `total` recipients that would be candidates but for an ejection
 */
export function isPanic(healthy: number, total: number, panicPct: number): boolean {
  return healthy < total && healthy * 100 < panicPct * total;
}
