/** Times and durations for people. */
import type { Timestamp } from '../../gen/google/protobuf/timestamp.js';

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** Microseconds since 1970; null when absent. */
export function usOf(timestamp: Timestamp | undefined): number | null {
  return timestamp === undefined ? null : Number(timestamp.seconds) * 1_000_000 + Math.floor(timestamp.nanos / 1_000);
}

/** A span in the two units that matter: "1.2 s", "4 m 10 s", "3 d 2 h". */
export function spanText(us: number): string {
  const seconds = Math.max(0, us) / 1_000_000;
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  for (const [index, [unit, size]] of UNITS.entries()) {
    if (seconds < size) continue;
    const whole = Math.floor(seconds / size);
    const [smaller, smallerSize] = UNITS[index + 1] ?? (['s', 1] as const);
    const rest = Math.floor((seconds - whole * size) / smallerSize);
    return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${smaller}`;
  }
  return `${seconds} s`;
}

/** A moment in UTC, to the millisecond: "2026-01-31 12:00:00.123Z". */
export function momentText(us: number | null): string {
  return us === null ? '' : new Date(us / 1_000).toISOString().replace('T', ' ');
}

/** How long ago, or in how long. */
export function distanceText(us: number, nowUs: number): string {
  return us <= nowUs ? `${spanText(nowUs - us)} ago` : `in ${spanText(us - nowUs)}`;
}
