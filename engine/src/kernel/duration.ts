/** Durations as text: "30s", "1h30m", "250ms". Units are d (24 h), h, m, s, ms, largest first, each at most once. */

const MS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
]);

const DURATION = /^(?:\d+(?:\.\d+)?d)?(?:\d+(?:\.\d+)?h)?(?:\d+(?:\.\d+)?m)?(?:\d+(?:\.\d+)?s)?(?:\d+(?:\.\d+)?ms)?$/;
const PART = /(\d+(?:\.\d+)?)(ms|[dhms])/g;
/** Longest text worth reading; a duration of all units with 10 digits each is shorter. */
const MAX_LENGTH = 64;

/**
 * Whole milliseconds of a duration, rounded up, so that nothing ends early.
 *
 * @param text such as "2s", "0.5s", "1h30m", "7d", "250ms"
 * @returns undefined when the text is no duration, or longer than can be counted exactly
 */
export function parseDurationMs(text: string): number | undefined {
  if (text.length === 0 || text.length > MAX_LENGTH || !DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    total += Number(amount) * (MS_PER_UNIT.get(unit ?? '') ?? Number.NaN);
  }
  // A millionth of a millisecond is the error of binary fractions (0.007 s is 7.000000000000001 ms), not a duration.
  const rounded = Math.ceil(Math.max(0, total - 1e-6));
  return Number.isSafeInteger(rounded) ? rounded : undefined;
}

/**
 * The shortest text that parseDurationMs reads back: the largest units first, without zeros.
 *
 * @param ms whole milliseconds, 0 or more
 */
export function formatDurationMs(ms: number): string {
  let left = ms;
  let text = '';
  for (const [unit, size] of MS_PER_UNIT) {
    const count = Math.floor(left / size);
    if (count > 0) text += `${count}${unit}`;
    left -= count * size;
  }
  return text === '' ? '0s' : text;
}
