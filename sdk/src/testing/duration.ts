/** Durations as people write them in tests. */
import { DuctorError } from '../errors.js';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of "1.5h", "90s", "250ms" or a number of them. Throws DuctorError invalid_argument. */
export function durationMs(duration: string | number): number {
  const parts = typeof duration === 'number' ? undefined : /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration);
  const ms = typeof duration === 'number' ? duration : Number(parts?.[1]) * (UNIT_MS[parts?.[2] ?? ''] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  throw new DuctorError('invalid_argument', `the duration is ${JSON.stringify(duration)}`, {
    remedy: 'write a number and one of ms, s, m, h, d, such as "90s"',
  });
}
