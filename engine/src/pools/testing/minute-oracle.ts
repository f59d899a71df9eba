/** Hours of 5 zones, and whether each minute of them is open: an oracle that knows nothing of how the engine asks. */
import type { Schedule } from '../schedule/schedule.js';

/** A minute, us. */
export const MINUTE = 60_000_000;
const QUARTER = 15 * MINUTE;
const DAY_MINUTES = 1440;

/** The years that are looked at: from the first one on, up to the second. */
const YEARS = [2024, 2027] as const;
/** The first minute of them, us since 1970, and how many there are: those of 3 years. */
export const FIRST_US = Date.UTC(YEARS[0], 0, 1) * 1000;
export const MINUTES = (Date.UTC(YEARS[1], 0, 1) * 1000 - FIRST_US) / MINUTE;

const CLOSED_DAYS: NonNullable<Schedule['exceptions']> = [
  { date: '2024-02-29', kind: 'closed', name: 'leap day' },
  { from: '2025-12-24', to: '2026-01-01', kind: 'closed' },
  { date: '2026-03-29', kind: 'open', windows: [{ open: '00:30', close: '04:30' }] },
];

/**
 * By zone: hours that meet its changes of offset. One zone shifts by half an hour, one changes four times a year, one
 * is 5:45 ahead.
 */
export const SCHEDULES: Readonly<Record<string, Schedule>> = {
  'America/New_York': {
    weekly: [
      { days: ['mon', 'tue', 'wed', 'thu', 'fri'], open: '09:00', close: '17:00' },
      { days: ['sun'], open: '01:00', close: '04:00' },
    ],
    exceptions: [...CLOSED_DAYS],
  },
  'Europe/Berlin': {
    weekly: [
      { days: ['sat', 'sun'], open: '22:00', close: '03:00' },
      { days: ['sun'], open: '02:30', close: '02:45' },
      { days: ['mon', 'wed'], open: '08:15', close: '24:00' },
    ],
    exceptions: [...CLOSED_DAYS],
  },
  'Australia/Lord_Howe': { weekly: [{ days: ['sat', 'sun', 'tue'], open: '01:00', close: '04:00' }] },
  'Asia/Kathmandu': { weekly: [{ days: ['mon', 'thu'], open: '10:05', close: '10:05' }] },
  'Africa/Casablanca': {
    weekly: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], open: '01:30', close: '03:30' }],
    effective_from: '2024-06-01T00:00:00Z',
    effective_to: '2026-09-01T12:00:00Z',
  },
};

const NAMES = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** 1970-01-01 was a Thursday. */
const THURSDAY = 3;

/** Minutes since 1970 on the wall clock of a zone, as the runtime prints it. */
function printed(zone: string): (us: number) => number {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  });
  return (us) => {
    const [, date = '', time = ''] = /(\d{4}-\d\d-\d\d).*?(\d\d:\d\d)/.exec(format.format(us / 1000)) ?? [];
    return Date.parse(`${date}T${time}Z`) / 60_000;
  };
}

/** The wall clock of minutes that are asked for one after the other; each is printed where it does not go on evenly. */
function wallClock(zone: string): (us: number) => number {
  const print = printed(zone);
  let [quarter, local, isSteady] = [Number.NaN, 0, false];
  return (us) => {
    const at = Math.floor(us / QUARTER);
    if (at !== quarter) {
      [quarter, local] = [at, print(at * QUARTER)];
      isSteady = print((at + 1) * QUARTER) - local === 15;
    }
    return isSteady ? local + (us - quarter * QUARTER) / MINUTE : print(us);
  };
}

interface Window {
  readonly open: number;
  readonly close: number;
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** Windows of a local day. */
function windowsOn(schedule: Schedule, day: number): readonly Window[] {
  const date = new Date(day * 86_400_000).toISOString().slice(0, 10);
  const exception = schedule.exceptions?.find((each) => {
    const [from, to] = [each.date ?? each.from ?? '', each.date ?? each.to ?? ''];
    return from <= date && date <= to;
  });
  const weekday = NAMES[(day + THURSDAY) % 7];
  const weekly = (schedule.weekly ?? []).filter(({ days }) => days.some((each) => each === weekday));
  const found = exception === undefined ? weekly : exception.kind === 'closed' ? [] : (exception.windows ?? []);
  return found.map(({ open, close }) => ({ open: minuteOf(open), close: minuteOf(close) }));
}

/** Whether a minute is open. */
export function minuteOracle(schedule: Schedule, zone: string): (us: number) => boolean {
  const from = Date.parse(schedule.effective_from ?? '0000-01-01T00:00:00Z') * 1000;
  const to = Date.parse(schedule.effective_to ?? '9999-01-01T00:00:00Z') * 1000;
  const wall = wallClock(zone);
  const known = new Map<number, readonly Window[]>();
  const on = (day: number): readonly Window[] => {
    const windows = known.get(day) ?? windowsOn(schedule, day);
    known.set(day, windows);
    return windows;
  };
  return (us) => {
    if (us < from || us >= to) return true;
    const local = wall(us);
    const day = Math.floor(local / DAY_MINUTES);
    const minute = local - day * DAY_MINUTES;
    // A close at or before its open reaches into the next day.
    return (
      on(day).some(({ open, close }) => open <= minute && (close <= open || minute < close)) ||
      on(day - 1).some(({ open, close }) => close <= open && minute < close)
    );
  };
}
