import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileOpening, type Schedule } from '../../pools/index.js';
import { settingsOf, type SlaClause, type SlaSettings } from '../pipeline/settings.js';
import { clocksOf, nextLookUs, stepOf, type Progress, type SlaClock } from './clock.js';

const MINUTE = 60_000_000;
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
        let clock: SlaClock = { clause, warnUs, dueUs, warnedUs: null, breachedUs: null, settledUs: null };
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
});
