/** What became of the starts of a phase, and what can be said of them. */

/** What became of one start. */
export type Fate = 'accepted' | 'refused' | 'failed';

/** One start. Times are those of the phase, ms. */
export interface Sample {
  /** When it was to be asked for, whenever that was done. */
  readonly dueMs: number;
  /** From then to its answer. */
  readonly tookMs: number;
  readonly fate: Fate;
  /** Code of the error; "" when it was accepted. */
  readonly code: string;
  /** When to come again, as the engine says, ms; 0: it said nothing. */
  readonly retryAfterMs: number;
  /** Id of the run; "" when there is none. */
  readonly runId: string;
}

/** The value that so large a part of the values stays within; 0 when there are none. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? 0;
}

/** Those of a fate. */
export function ofFate(samples: readonly Sample[], fate: Fate): readonly Sample[] {
  return samples.filter((sample) => sample.fate === fate);
}

/** Quantile of how long the accepted ones waited for their answer, ms. */
export function acceptedMs(samples: readonly Sample[], part: number): number {
  return quantile(
    ofFate(samples, 'accepted').map(({ tookMs }) => tookMs),
    part,
  );
}

/** Those that were due within these times of their phase. */
export function dueWithin(samples: readonly Sample[], fromMs: number, toMs: number): readonly Sample[] {
  return samples.filter(({ dueMs }) => dueMs >= fromMs && dueMs < toMs);
}

/**
 * From when on the p99 of accepted starts is within the limit and nothing is refused, window by window, to the end.
 * Infinity when the last window is not so.
 */
export function normalFromMs(samples: readonly Sample[], limitMs: number, windowMs: number, endMs: number): number {
  let fromMs = Number.POSITIVE_INFINITY;
  for (let atMs = endMs - windowMs; atMs >= 0; atMs -= windowMs) {
    const window = dueWithin(samples, atMs, atMs + windowMs);
    if (ofFate(window, 'accepted').length < window.length || acceptedMs(window, 0.99) > limitMs) break;
    fromMs = atMs;
  }
  return fromMs;
}

/** A phase as one line for people. */
export function samplesLine(samples: readonly Sample[], forMs: number): string {
  const accepted = ofFate(samples, 'accepted').length;
  const refused = ofFate(samples, 'refused');
  const perSecond = (count: number): string => ((count * 1_000) / forMs).toFixed(0);
  const hints = refused.map(({ retryAfterMs }) => retryAfterMs);
  return (
    `${perSecond(samples.length)}/s asked, ${perSecond(accepted)}/s accepted ` +
    `(p50 ${acceptedMs(samples, 0.5).toFixed(0)} ms, p99 ${acceptedMs(samples, 0.99).toFixed(0)} ms), ` +
    `${refused.length} refused (hint p50 ${quantile(hints, 0.5)} ms, ` +
    `${hints.filter((ms) => ms === 0).length} without), ${ofFate(samples, 'failed').length} failed`
  );
}
