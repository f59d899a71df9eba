import { describe, expect, it } from 'vitest';
import { parseTimestampUs } from '../../kernel/index.js';
import { nextOpenUs } from './next-open.js';
import { compileOpening, isOpen, type Opening } from './opening.js';
import { DAYS, scheduleField } from './schedule.js';

const US_PER_MINUTE = 60_000_000;

function opening(schedule: unknown, zone = 'UTC'): Opening | undefined {
  return compileOpening(scheduleField.parse(schedule), zone);
}

function at(text: string): number {
  return parseTimestampUs(text) ?? Number.NaN;
}

/** Minutes it is open from one instant to another. */
function openMinutes(hours: Opening | undefined, fromUs: number, toUs: number): number {
  let minutes = 0;
  for (let us = fromUs; us < toUs; us += US_PER_MINUTE) if (isOpen(hours, us)) minutes += 1;
  return minutes;
}

function everyDay(open: string, close: string, zone: string): Opening | undefined {
  return opening({ timezone: zone, weekly: [{ days: [...DAYS], open, close }] });
}

describe('opening hours', () => {
  it('are always open without a schedule', () => {
    expect(isOpen(compileOpening(undefined, 'UTC'), 0)).toBe(true);
    expect(isOpen(opening({}), 0)).toBe(true);
  });

  it('are half open: closed at the minute they close', () => {
    const hours = everyDay('09:00', '17:00', 'UTC');
    expect(isOpen(hours, at('2026-03-02T08:59:59Z'))).toBe(false);
    expect(isOpen(hours, at('2026-03-02T09:00:00Z'))).toBe(true);
    expect(isOpen(hours, at('2026-03-02T16:59:59Z'))).toBe(true);
    expect(isOpen(hours, at('2026-03-02T17:00:00Z'))).toBe(false);
  });

  // 23, 24 and 25 hours of New York: what is missing in the gap does not exist, the overlap counts twice.
  it.each([
    ['2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z', 120],
    ['2026-07-01T04:00:00Z', '2026-07-02T04:00:00Z', 180],
    ['2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z', 240],
  ])('from 01 to 04 on the day from %s have %s', (from, to, minutes) => {
    const zone = 'America/New_York';
    expect(openMinutes(everyDay('01:00', '04:00', zone), at(from), at(to))).toBe(minutes);
    expect(openMinutes(everyDay('09:00', '17:00', zone), at(from), at(to))).toBe(480);
  });

  it('know a shift of half an hour', () => {
    // Lord Howe turns its clock back by 30 minutes on 2026-04-05 at 02:00.
    const hours = everyDay('01:00', '04:00', 'Australia/Lord_Howe');
    expect(openMinutes(hours, at('2026-04-04T13:00:00Z'), at('2026-04-05T13:30:00Z'))).toBe(210);
  });

  it('cross midnight and belong to the day they open on', () => {
    const hours = opening({ weekly: [{ days: ['fri'], open: '22:00', close: '02:00' }] });
    expect(isOpen(hours, at('2026-07-10T23:00:00Z'))).toBe(true);
    expect(isOpen(hours, at('2026-07-11T01:59:00Z'))).toBe(true);
    expect(isOpen(hours, at('2026-07-11T02:00:00Z'))).toBe(false);
    expect(isOpen(hours, at('2026-07-11T22:30:00Z'))).toBe(false);
  });

  it('give way to exceptions', () => {
    const hours = opening({
      weekly: [{ days: [...DAYS], open: '00:00', close: '24:00' }],
      exceptions: [
        { date: '2026-12-24', kind: 'open', windows: [{ open: '09:00', close: '12:00' }] },
        { from: '2026-12-25', to: '2026-12-26', kind: 'closed' },
      ],
    });
    expect(isOpen(hours, at('2026-12-24T11:00:00Z'))).toBe(true);
    expect(isOpen(hours, at('2026-12-24T13:00:00Z'))).toBe(false);
    expect(openMinutes(hours, at('2026-12-25T00:00:00Z'), at('2026-12-27T00:00:00Z'))).toBe(0);
    expect(nextOpenUs(hours, at('2026-12-24T13:00:30Z'))).toBe(at('2026-12-27T00:00:00Z'));
  });

  it('find the next opening as a look at every minute does', () => {
    for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC']) {
      const hours = opening({ timezone: zone, weekly: [{ days: ['mon', 'sun'], open: '02:15', close: '03:00' }] });
      for (const start of [
        '2026-03-28T11:07:00Z',
        '2026-10-24T23:30:00Z',
        '2026-11-01T00:00:00Z',
        '2028-02-29T05:00:00Z',
      ]) {
        let us = at(start);
        while (!isOpen(hours, us)) us += US_PER_MINUTE;
        expect(nextOpenUs(hours, at(start))).toBe(us);
      }
    }
  });

  it('say so when nothing opens within a year', () => {
    expect(nextOpenUs(opening({ weekly: [] }), at('2026-01-01T00:00:00Z'))).toBeUndefined();
  });

  it('refuse dates that do not exist, exceptions without dates, and hours on closed days', () => {
    const refused = (exception: object) => scheduleField.safeParse({ exceptions: [exception] }).success;
    expect(refused({ date: '2026-02-30', kind: 'closed' })).toBe(false);
    expect(refused({ kind: 'closed' })).toBe(false);
    expect(refused({ from: '2026-02-02', to: '2026-02-01', kind: 'closed' })).toBe(false);
    expect(refused({ date: '2026-02-02', kind: 'closed', windows: [] })).toBe(false);
    expect(refused({ from: '2026-02-01', to: '2026-02-02', kind: 'closed' })).toBe(true);
  });
});
