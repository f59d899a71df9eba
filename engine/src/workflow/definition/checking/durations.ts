/** Durations in a definition. */
import { formatDurationMs, parseDurationMs } from '../../../kernel/index.js';

/** What a duration looks like, for remedies. */
export const DURATION_EXAMPLE = '"30s", "1h30m" or "250ms" (units d, h, m, s, ms)';

/** What is wrong with a literal duration; undefined when it is fine. Bounds in ms. */
export function durationProblem(text: string, minMs: number, maxMs: number): string | undefined {
  const ms = parseDurationMs(text);
  if (ms === undefined) return 'is not a duration';
  if (ms < minMs) return `is shorter than ${formatDurationMs(minMs)}`;
  return ms > maxMs ? `is longer than ${formatDurationMs(maxMs)}` : undefined;
}
