/** Opening hours: windows by the local week, exceptions by local date. */
import { z } from 'zod';
import { instantField, patternText, refuse, text } from '../fields/primitives.js';
import { isTimeZone } from './zone-offset.js';

/** Days of the week as they are written, Monday first. */
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const openAt = patternText(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of day', '09:00');
const closeAt = patternText(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, 'a time of day, 24:00 included', '17:30');

/** A time zone of the tz database. */
export const zoneField = z.string().superRefine((value, context) => {
  if (isTimeZone(value)) return;
  refuse(context, 'is not a time zone', 'Use an IANA name such as "America/Chicago", or "UTC".');
});

/** `close` at or before `open` reaches into the next day, and belongs to the day it opens on. */
const window = z.strictObject({ open: openAt, close: closeAt });

const date = z.string().superRefine((value, context) => {
  if (dayOf(value) !== undefined) return;
  refuse(context, 'is not a date', 'Use a date of the calendar, such as "2026-12-24".');
});

const exception = z
  .strictObject({
    date: date.optional(),
    from: date.optional(),
    to: date.optional(),
    kind: z.enum(['closed', 'open']),
    windows: z.array(window).max(16).optional(),
    name: text(128).optional(),
  })
  .superRefine((value, context) => {
    const isRange = value.from !== undefined && value.to !== undefined;
    if ((value.date !== undefined) === isRange || (!isRange && (value.from ?? value.to) !== undefined)) {
      refuse(context, 'needs date, or from and to', 'Give either date, or both from and to.');
    }
    if (value.kind === 'closed' && value.windows !== undefined) {
      refuse(context, 'has windows though it is closed', 'Use kind open with the windows that stay, or remove them.');
    }
    if (isRange && String(value.from) > String(value.to)) {
      refuse(context, 'ends before it begins', 'Swap from and to.');
    }
  });

/** What a schedule may hold. */
export const scheduleField = z.strictObject({
  timezone: zoneField.optional(),
  weekly: z
    .array(z.strictObject({ days: z.array(z.enum(DAYS)).min(1).max(7), open: openAt, close: closeAt }))
    .max(64)
    .optional(),
  exceptions: z.array(exception).max(400).optional(),
  effective_from: instantField.optional(),
  effective_to: instantField.optional(),
});

/** A checked schedule. Without `weekly` it is open all week, exceptions aside. */
export type Schedule = z.output<typeof scheduleField>;

const MS_PER_DAY = 86_400_000;

/** Days since 1970 of a date, undefined when the calendar has no such day. */
export function dayOf(value: string): number | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(value);
  if (match === null) return undefined;
  const ms = Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  return new Date(ms).toISOString().startsWith(value) ? ms / MS_PER_DAY : undefined;
}
