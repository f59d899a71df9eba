/**
 * Cron patterns over croner. Nothing here reads a clock: the instant to go on from is always an argument.
 *
 * Where clocks are set: a pattern without a wildcard in second, minute and hour names times of day, and each of them
 * happens once a day. One that is skipped happens at the first moment after the gap, one that comes twice happens the
 * first time. A pattern with a wildcard there counts real time: it happens whenever the local time matches, both times
 * where an hour is repeated, and not where it is skipped.
 */
import { Cron } from 'croner';
import type { Slots } from './spec.js';

/** Longest cron pattern, characters. */
const MAX_CRON_CHARS = 256;

const US_PER_MS = 1_000;
/** Where it is asked whether a pattern ever comes: 2000-01-01, a leap year. */
const FROM_US = 946_684_800_000_000;

/**
 * @param mode how many fields the pattern has
 * Throws what croner throws.
 */
function slotsOf(expression: string, timeZone: string, mode: '5-or-6-parts' | '7-part'): Slots {
  const cron = new Cron(expression, { timezone: timeZone, paused: true, mode, fixedTimeRule: 'no-wildcard' });
  return {
    nextAfter(afterUs) {
      // Slots are whole seconds: what is later than a whole millisecond has not reached the next one.
      const next = cron.nextRun(new Date(Math.floor(afterUs / US_PER_MS)));
      return next === null ? null : next.getTime() * US_PER_MS;
    },
  };
}

/** Slots of a pattern that was checked. */
export function cronSlots(expression: string, timeZone: string): Slots {
  return slotsOf(expression, timeZone, '5-or-6-parts');
}

/** Slots of a pattern of seven fields, with seconds and years. For patterns that are made, not written. */
export function datedSlots(pattern: string, timeZone: string): Slots {
  return slotsOf(pattern, timeZone, '7-part');
}

/** What croner says, without the names of its own parts. */
function reasonOf(caught: unknown): string {
  const said = caught instanceof Error ? caught.message : String(caught);
  return said.replace(/^Cron\w+: /, '').replace(/^./, (letter) => letter.toLowerCase());
}

/** What is wrong with a pattern; undefined when it is fine. */
export function cronProblem(expression: string): string | undefined {
  if (expression === '') return 'is empty';
  if (expression.length > MAX_CRON_CHARS) {
    return `has ${expression.length} characters, at most ${MAX_CRON_CHARS} are allowed`;
  }
  // croner would take it for a single date.
  if (expression.includes(':')) return 'is no cron pattern: it holds a colon';
  try {
    if (cronSlots(expression, 'UTC').nextAfter(FROM_US) !== null) return undefined;
  } catch (error) {
    return `is no cron pattern: ${reasonOf(error)}`;
  }
  return 'never comes: there is no such day';
}

/** What is wrong with the name of a zone; undefined when it is fine. */
export function zoneProblem(timeZone: string): string | undefined {
  if (timeZone === '') return 'is missing';
  if (timeZone.length > 64 || !/^[A-Za-z]/.test(timeZone)) return 'is no name of a time zone';
  try {
    // Offsets such as +02:00 are refused above: they know nothing of summer time, which is what a zone is for.
    new Intl.DateTimeFormat('en-US', { timeZone });
    return undefined;
  } catch {
    return 'is no time zone that this engine knows';
  }
}
