/** The moments of a schedule, by its spec. */
import { sha256Hex } from '../../kernel/index.js';
import { calendarSlots } from './calendar.js';
import { cronSlots } from './cron.js';
import type { IntervalSpec, Slots, SlotSpec } from './spec.js';

const US_PER_MS = 1_000;

function intervalSlots({ everyMs, offsetMs }: IntervalSpec): Slots {
  return {
    nextAfter: (afterUs) => {
      const passed = Math.floor((Math.floor(afterUs / US_PER_MS) - offsetMs) / everyMs);
      return ((passed + 1) * everyMs + offsetMs) * US_PER_MS;
    },
  };
}

/** Slots of a spec that was checked. */
export function slotsOf(spec: SlotSpec): Slots {
  switch (spec.kind) {
    case 'cron':
      return cronSlots(spec.expression, spec.timeZone);
    case 'interval':
      return intervalSlots(spec);
    case 'calendar':
      return calendarSlots(spec);
  }
}

/** Slots between two bounds, which count themselves; null: no bound. */
export function boundedSlots(slots: Slots, startsAtUs: number | null, endsAtUs: number | null): Slots {
  return {
    nextAfter(afterUs) {
      const next = slots.nextAfter(startsAtUs === null ? afterUs : Math.max(afterUs, startsAtUs - 1));
      return next === null || (endsAtUs !== null && next > endsAtUs) ? null : next;
    },
  };
}

/**
 * How long after its slot a start is due: 0 to less than jitterMs, always the same for a slot of a schedule.
 *
 * @returns microseconds
 */
export function jitterUs(scheduleId: string, slotUs: number, jitterMs: number): number {
  if (jitterMs === 0) return 0;
  const share = Number.parseInt(sha256Hex(`${scheduleId}/${slotUs}`).slice(0, 12), 16) / 2 ** 48;
  return Math.floor(share * jitterMs) * US_PER_MS;
}
