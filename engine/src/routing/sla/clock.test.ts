import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileOpening, isOpen, type Schedule } from '../../pools/index.js';
import { settingsOf, type SlaClause, type SlaSettings } from '../pipeline/settings.js';
import { clocksOf, nextLookUs, paused, resumed, stepOf, type Progress, type SlaClock } from './clock.js';

const MINUTE = 60_000_000;
const RUNS = { pausedUs: null, stoodUs: 0 };
const CLAUSES: readonly SlaClause[] = ['pickup', 'first_response', 'resolve'];

function slaOf(sla: object): SlaSettings {
  const found = settingsOf({ sla }).sla;
  if (found === undefined) throw new TypeError('no SLA');
  return found;
}

describe('the clocks of an assignment', () => {
  const sla = { pickup_within: '5m', first_response_within: '10m', resolve_within: '60m', warn_at_pct: 50 };

  it('are one for each clause, warned of at their share; who need not accept has picked it up', () => {
    const times = { receivedUs: 0, decidedUs: 2 * MINUTE };
    expect(clocksOf(slaOf(sla), undefined, times, false)).toEqual([
      { clause: 'pickup', warnUs: 2.5 * MINUTE, dueUs: 5 * MINUTE },
      { clause: 'first_response', warnUs: 5 * MINUTE, dueUs: 10 * MINUTE },
      { clause: 'resolve', warnUs: 30 * MINUTE, dueUs: 60 * MINUTE },
    ]);
    expect(clocksOf(slaOf(sla), undefined, times, true).map(({ clause }) => clause)).toEqual([
      'first_response',
      'resolve',
    ]);
    const late = clocksOf(slaOf({ ...sla, start_event: 'assigned' }), undefined, times, true);
    expect(late[0]?.dueUs).toBe(12 * MINUTE);
  });

  it('count open time alone by the business clock', () => {
    const days: Schedule = { weekly: [{ days: ['thu', 'fri'], open: '00:00', close: '00:30' }] };
    const hours = compileOpening(days, 'UTC');
    const times = { receivedUs: 0, decidedUs: 0 };
    const [, resolve] = clocksOf(slaOf({ ...sla, clock: 'business' }), hours, times, true);
    // 1970-01-01 is a Thursday: 30 minutes of it, the rest of Friday.
    expect(resolve).toEqual({ clause: 'resolve', warnUs: 30 * MINUTE, dueUs: (24 * 60 + 30) * MINUTE });
  });

  it('warn and breach once, whenever they are looked at, and what was not done in time alone (2,000 histories)', () => {
    const moment = fc.option(fc.integer({ min: 0, max: 100 }), { nil: null });
    const history = fc.record({
      clause: fc.constantFrom(...CLAUSES),
      warnUs: fc.integer({ min: 0, max: 60 }),
      dueUs: fc.integer({ min: 1, max: 60 }),
      committedUs: moment,
      respondedUs: moment,
      end: fc.option(
        fc.record({
          us: fc.integer({ min: 0, max: 100 }),
          state: fc.constantFrom('completed', 'declined', 'released'),
        }),
        { nil: null },
      ),
      looks: fc.uniqueArray(fc.integer({ min: 0, max: 120 }), { maxLength: 12 }),
    });
    fc.assert(
      fc.property(history, ({ clause, warnUs, dueUs, end, looks, ...moments }) => {
        // Nothing is done after the end.
        const before = (us: number | null): number | null => (us !== null && us > (end?.us ?? us) ? null : us);
        const [committedUs, respondedUs] = [before(moments.committedUs), before(moments.respondedUs)];
        let clock: SlaClock = { clause, warnUs, dueUs, warnedUs: null, breachedUs: null, settledUs: null, ...RUNS };
        const steps: string[] = [];
        const until = (us: number | null, nowUs: number): number | null => (us !== null && us <= nowUs ? us : null);
        // A last look comes when everything is over.
        for (const nowUs of [...looks.toSorted((a, b) => a - b), 200]) {
          if (nextLookUs(clock) === null) break;
          const endedUs = until(end?.us ?? null, nowUs);
          const now: Progress = {
            state: endedUs === null ? 'active' : (end?.state ?? ''),
            ...{ committedUs: until(committedUs, nowUs), respondedUs: until(respondedUs, nowUs), endedUs },
          };
          const step = stepOf(clock, now, nowUs);
          if (step !== 'wait') steps.push(step);
          if (step === 'warn') clock = { ...clock, warnedUs: nowUs };
          if (step === 'breach') clock = { ...clock, breachedUs: nowUs };
          if (step === 'settle') clock = { ...clock, settledUs: nowUs };
        }
        const completedUs = end?.state === 'completed' ? end.us : null;
        const kept = { pickup: committedUs, first_response: respondedUs ?? completedUs, resolve: completedUs }[clause];
        const doneUs = kept ?? end?.us ?? null;
        expect(steps.at(-1)).toBe(doneUs !== null && doneUs <= dueUs ? 'settle' : 'breach');
        expect(steps.slice(0, -1).every((step) => step === 'warn')).toBe(true);
        expect(steps.length).toBeLessThanOrEqual(2);
      }),
      { numRuns: 2000 },
    );
  });

  it('stand still while work waits: in 5 zones around changes of the clock, minute by minute (150 histories)', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca'];
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
    const history = fc.record({
      zone: fc.constantFrom(...zones),
      // Half of them within days of a change of an offset.
      start: fc.oneof(
        fc.constantFrom('2025-03-29', '2025-10-25', '2025-03-08', '2025-11-01', '2025-04-05', '2025-10-04'),
        fc.constantFrom('2025-02-27', '2025-04-04', '2025-06-15', '2025-12-30'),
      ),
      offset: fc.integer({ min: 0, max: 1440 }),
      open: fc.constantFrom('00:00', '01:30', '09:00', '22:15'),
      close: fc.constantFrom('02:15', '03:00', '17:00', '24:00'),
      isBusiness: fc.boolean(),
      within: fc.integer({ min: 1, max: 400 }).map((half) => half * 2),
      turns: fc.array(fc.integer({ min: 0, max: 3 * 1440 }), { maxLength: 8 }),
    });
    fc.assert(
      fc.property(history, ({ zone, start, offset, open, close, isBusiness, within, turns }) => {
        const fromUs = Date.parse(`${start}T00:00:00Z`) * 1000 + offset * MINUTE;
        const weekly = [{ days: days.filter((_, index) => (offset + index) % 3 !== 0), open, close }];
        const hours = isBusiness ? compileOpening({ weekly }, zone) : undefined;
        const limits = { resolve_within: `${within}m`, warn_at_pct: 50, clock: isBusiness ? 'business' : 'elapsed' };
        const [times] = clocksOf(slaOf(limits), hours, { receivedUs: fromUs, decidedUs: fromUs }, true);
        if (times === undefined) throw new TypeError('no clock');
        const at = turns.toSorted((a, b) => a - b).slice(0, turns.length - (turns.length % 2));
        const now: Progress = { state: 'active', committedUs: fromUs, respondedUs: null, endedUs: null };
        let clock: SlaClock = { ...times, warnedUs: null, breachedUs: null, settledUs: null, ...RUNS };
        for (const [index, minute] of at.entries()) {
          const us = fromUs + minute * MINUTE;
          clock = index % 2 === 0 ? paused(clock, now, us) : resumed(clock, isBusiness, hours, us);
        }
        const isWaiting = (minute: number): boolean => at.filter((turn) => turn <= minute).length % 2 === 1;
        const reached = { warn: Number.NaN, due: Number.NaN };
        for (let [minute, count] = [0, 0]; count < within; minute += 1) {
          const us = fromUs + minute * MINUTE;
          if (isWaiting(minute) || (hours !== undefined && !isOpen(hours, us))) continue;
          count += 1;
          if (count === within / 2) reached.warn = us + MINUTE;
          if (count === within) reached.due = us + MINUTE;
        }
        expect([clock.warnUs, clock.dueUs, clock.pausedUs]).toEqual([reached.warn, reached.due, null]);
      }),
      { numRuns: 150 },
    );
  });

  it('stand still: only what was due before is told, and what is done meanwhile was in time', () => {
    const clock: SlaClock = {
      ...{ clause: 'resolve', warnUs: 50, dueUs: 100, warnedUs: null, breachedUs: null, settledUs: null, ...RUNS },
    };
    const now: Progress = { state: 'active', committedUs: 0, respondedUs: null, endedUs: null };
    const early = paused(clock, now, 40);
    expect([stepOf(early, now, 5_000), nextLookUs(early)]).toEqual(['wait', null]);
    const late = paused(clock, now, 60);
    expect([stepOf(late, now, 5_000), nextLookUs(late)]).toEqual(['warn', 50]);
    const done: Progress = { ...now, state: 'completed', endedUs: 4_000 };
    expect(stepOf(early, done, 5_000)).toBe('settle');
    expect(stepOf(resumed(early, false, undefined, 5_000), done, 6_000)).toBe('settle');
    expect(paused(clock, now, 100)).toBe(clock);
    expect(stepOf(clock, now, 100)).toBe('breach');
  });
});
