/** Slots of the calendar: each time of day becomes a few cron patterns; the earliest next slot of all is the next. */
import { cronSlots, datedSlots } from './cron.js';
import { WEEKDAYS, type CalendarSpec, type Slots } from './spec.js';

const LAST_DAY = -1;
/** Excluded slots that are passed over in one look; more than a calendar of 4 years can exclude in a row. */
const MAX_PASSED = 100_000;

/** Hours, minutes and seconds of "09:00" or "09:00:30". */
function partsOf(time: string): readonly [hour: number, minute: number, second: number] {
  const [hour = 0, minute = 0, second = 0] = time.split(':').map(Number);
  return [hour, minute, second];
}

/** The local date of an instant. */
function dateIn(timeZone: string): (us: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, year: 'numeric', month: '2-digit', day: '2-digit' },
  });
  return (us) => format.format(us / 1_000);
}

function patternsOf(spec: CalendarSpec, time: string): readonly Slots[] {
  const { timeZone, daysOfMonth, weekdays, dates } = spec;
  const [hour, minute, second] = partsOf(time);
  const clock = `${second} ${minute} ${hour}`;
  const months = spec.months.length === 0 ? '*' : spec.months.join(',');
  const days = daysOfMonth.map((day) => (day === LAST_DAY ? 'L' : String(day)));
  const found: Slots[] = [];
  if (days.length > 0) found.push(cronSlots(`${clock} ${days.join(',')} ${months} *`, timeZone));
  if (weekdays.length > 0) {
    const numbers = weekdays.map((day) => (WEEKDAYS.indexOf(day) + 1) % 7);
    found.push(cronSlots(`${clock} * ${months} ${numbers.join(',')}`, timeZone));
  }
  for (const date of dates) {
    const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
    found.push(datedSlots(`${clock} ${day} ${month} * ${year}`, timeZone));
  }
  return found;
}

/** The earliest next slot of several. */
function earliest(all: readonly Slots[], afterUs: number): number | null {
  let first: number | null = null;
  for (const slots of all) {
    const next = slots.nextAfter(afterUs);
    if (next !== null && (first === null || next < first)) first = next;
  }
  return first;
}

/** Slots of a calendar that was checked. */
export function calendarSlots(spec: CalendarSpec): Slots {
  const all = spec.times.flatMap((time) => patternsOf(spec, time));
  const excluded = new Set(spec.exceptDates);
  if (excluded.size === 0) return { nextAfter: (afterUs) => earliest(all, afterUs) };
  const dateOf = dateIn(spec.timeZone);
  return {
    nextAfter(afterUs) {
      let next = earliest(all, afterUs);
      for (let passed = 0; next !== null && excluded.has(dateOf(next)); passed += 1) {
        if (passed >= MAX_PASSED) return null;
        next = earliest(all, next);
      }
      return next;
    },
  };
}
