/** Building blocks of the objects' fields: what they accept, and the one form in which they are kept. */
import { z } from 'zod';
import { isUuid, parseDurationMs, parseTimestampUs } from '../../kernel/index.js';

/** Adds a problem of our own to a check. */
export function refuse(
  context: z.core.$RefinementCtx,
  problem: string,
  remedy: string,
  path: readonly PropertyKey[] = [],
): void {
  context.addIssue({ code: 'custom', message: problem, path: [...path], params: { remedy } });
}

/** A text of so many characters at most. */
export function text(max: number, min = 0): z.ZodString {
  return z
    .string()
    .min(min)
    .max(max)
    .superRefine((value, context) => {
      // PostgreSQL keeps no such text.
      if (value.includes('\0')) refuse(context, 'holds a NUL character', 'Leave it out.');
    });
}

/** A text that one pattern accepts. `wanted` completes "is not …", `example` "Use …". */
export function patternText(pattern: RegExp, wanted: string, example: string): z.ZodString {
  return z.string().superRefine((value, context) => {
    if (!pattern.test(value)) refuse(context, `is not ${wanted}`, `Use ${wanted}, such as ${JSON.stringify(example)}.`);
  });
}

/** A UUID in lower case. */
export const idField = z.string().superRefine((value, context) => {
  if (!isUuid(value)) refuse(context, 'is not an id', 'Use the id as it was answered: a UUID in lower case.');
});

/** A whole number within bounds. */
export function count(min: number, max: number): z.ZodNumber {
  return z.number().int().min(min).max(max);
}

/** Milliseconds as text in seconds, the form in which durations are kept: "30s", "0.25s". */
function secondsText(ms: number): string {
  return `${ms / 1000}s`;
}

/**
 * A duration within bounds, in ms. Accepts what parseDurationMs reads ("30s", "1h30m"); kept in seconds ("5400s").
 */
export function duration(minMs: number, maxMs: number): z.ZodType<string> {
  return z.string().transform((value, context) => {
    const ms = parseDurationMs(value);
    if (ms === undefined) {
      refuse(context, 'is not a duration', 'Use a number with a unit: "250ms", "30s", "5m", "2h", "7d".');
      return z.NEVER;
    }
    if (ms < minMs || ms > maxMs) {
      const bounds = `from ${secondsText(minMs)} to ${secondsText(maxMs)}`;
      refuse(context, `is not ${bounds}`, `Use a duration ${bounds}.`);
      return z.NEVER;
    }
    return secondsText(ms);
  });
}

/** Milliseconds of a duration that was checked before. */
export function msOf(checked: string): number {
  return parseDurationMs(checked) ?? 0;
}

/** A weight: 0 to 1,000 with at most three decimals. More are refused, never cut off. */
export const weightField = z
  .number()
  .min(0)
  .max(1000)
  .superRefine((value, context) => {
    if (Math.abs(value * 1000 - Math.round(value * 1000)) > 1e-6) {
      refuse(context, 'has more than three decimals', 'Round it to three decimals, such as 0.125.');
    }
  });

/** Thousandths of a checked weight. */
export function milliOf(weight: number): number {
  return Math.round(weight * 1000);
}

const INT64_MAX = 2n ** 63n - 1n;

/** Money: a decimal text of millionths of the currency's unit, 0 or more, as 64-bit integers hold it. */
export const microsField = z.string().superRefine((value, context) => {
  if (/^\d{1,19}$/.test(value) && BigInt(value) <= INT64_MAX) return;
  refuse(context, 'is not an amount in micros', 'Use digits only, as a string: "2500000" is 2.50.');
});

/** A currency of ISO 4217. */
export const currencyField = patternText(/^[A-Z]{3}$/, 'a currency code of three capitals', 'EUR');

/** An instant (RFC 3339), kept as it was sent. */
export const instantField = z.string().superRefine((value, context) => {
  if (parseTimestampUs(value) !== undefined) return;
  refuse(context, 'is not an instant', 'Use RFC 3339 with a zone, such as "2026-07-11T10:45:00Z".');
});

/** Labels of one's own: at most 64, each of at most 1,024 characters. */
export const metadataField = z.record(text(128, 1), text(1024)).superRefine((value, context) => {
  if (Object.keys(value).length > 64) refuse(context, 'has more than 64 keys', 'Remove some.');
});
