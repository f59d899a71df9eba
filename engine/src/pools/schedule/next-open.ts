/** When a schedule opens next. */
import { openIntervals } from './business-time.js';
import { isOpen, type Opening } from './opening.js';

const US_PER_MINUTE = 60_000_000;
/** How far ahead an opening is looked for: a year and a leap day. */
const HORIZON_US = 366 * 1440 * US_PER_MINUTE;

/**
 * The first minute at which it is open, at or after an instant (the instant itself when it is open then); undefined
 * when there is none within a year.
 */
export function nextOpenUs(opening: Opening | undefined, nowUs: number): number | undefined {
  if (opening === undefined || isOpen(opening, nowUs)) return nowUs;
  for (const { fromUs, toUs } of openIntervals(opening, { fromUs: nowUs, toUs: nowUs + HORIZON_US })) {
    const minuteUs = Math.ceil(fromUs / US_PER_MINUTE) * US_PER_MINUTE;
    if (minuteUs < toUs) return minuteUs;
  }
  return undefined;
}
