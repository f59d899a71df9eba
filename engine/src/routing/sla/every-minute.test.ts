/** Clocks by business time against every minute of 5 zones in 3 years. */
import { expect, it } from 'vitest';
import { compileOpening } from '../../pools/index.js';
import { FIRST_US, MINUTE, minuteOracle, MINUTES, SCHEDULES } from '../../pools/testing/index.js';
import { settingsOf } from '../pipeline/settings.js';
import { clocksOf } from './clock.js';

/** How long the clause lasts, minutes; a clock begins so often. */
const WITHIN = 240;
const EVERY = 127;

it.each(Object.entries(SCHEDULES))(
  'in %s a clause is due, and warned of, when every minute by itself says',
  (zone, schedule) => {
    const { sla } = settingsOf({ sla: { resolve_within: `${WITHIN}m`, warn_at_pct: 50, clock: 'business' } });
    if (sla === undefined) throw new TypeError('no SLA');
    const hours = compileOpening(schedule, zone);
    const isOpen = minuteOracle(schedule, zone);
    /** The moments at which open minutes end, and the clocks that wait for the n-th of them. */
    const ends: number[] = [];
    const begun: { readonly us: number; readonly open: number }[] = [];
    for (let minute = 0; minute < MINUTES; minute += 1) {
      const us = FIRST_US + minute * MINUTE;
      if (minute % EVERY === 0) begun.push({ us, open: ends.length });
      if (isOpen(us)) ends.push(us + MINUTE);
    }
    let seen = 0;
    for (const { us, open } of begun) {
      const [warnUs, dueUs] = [ends[open + WITHIN / 2 - 1], ends[open + WITHIN - 1]];
      // What is due after the last of these years nobody has counted.
      if (warnUs === undefined || dueUs === undefined) continue;
      const clocks = clocksOf(sla, hours, { receivedUs: us, decidedUs: us }, true);
      if (clocks[0]?.dueUs !== dueUs || clocks[0].warnUs !== warnUs) {
        expect([new Date(us / 1000).toISOString(), clocks[0]?.warnUs, clocks[0]?.dueUs]).toEqual(['', warnUs, dueUs]);
      }
      seen += 1;
    }
    expect(seen).toBeGreaterThan(12_000);
  },
  5 * 60_000,
);
