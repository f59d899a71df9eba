/** What is refused of calls about schedules before they are sent. All throw DuctorError invalid_argument. */
import { FieldChecks, kindOf } from '../connection/field-checks.js';
import type { CatchUpName, OverlapName, SlotOutcomeName } from './schedule-view.js';
import type { BackfillRange, NewSchedule, PageOptions, ScheduleUpdate, SlotListOptions } from './schedule-options.js';

const OVERLAPS: Readonly<Record<OverlapName, true>> = {
  ...{ SKIP: true, BUFFER_ONE: true, ALLOW: true, CANCEL_PREVIOUS: true },
};
const CATCH_UPS: Readonly<Record<CatchUpName, true>> = { ALL: true, LATEST: true, NONE: true };
const OUTCOMES: Readonly<Record<SlotOutcomeName, true>> = {
  ...{ DUE: true, STARTING: true, BUFFERED: true, STARTED: true },
  ...{ SKIPPED_OVERLAP: true, MISSED_CATCH_UP: true, FAILED: true },
};
const UPDATE_OPTIONS: Readonly<Record<keyof ScheduleUpdate, true>> = {
  ...{ title: true, version: true, input: true, attributes: true, startsAt: true, endsAt: true, jitter: true },
  ...{ times: true, overlap: true, catchUp: true },
};
const CREATE_OPTIONS: Readonly<Record<keyof NewSchedule, true>> = { slug: true, workflow: true, ...UPDATE_OPTIONS };
const PAGE_OPTIONS: Readonly<Record<keyof PageOptions, true>> = { pageSize: true, cursor: true };
const SLOT_OPTIONS: Readonly<Record<keyof SlotListOptions, true>> = { ...PAGE_OPTIONS, outcome: true };
const RANGE_OPTIONS: Readonly<Record<keyof BackfillRange, true>> = { from: true, to: true, overlap: true };

type Check = 'text' | 'texts' | 'numbers';

/** The fields of each way to say when, and what the wire has for them. */
const TIMES: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  cron: { expression: 'text', timeZone: 'text' },
  interval: { every: 'text', offset: 'text' },
  calendar: {
    ...{ timeZone: 'text', times: 'texts', dates: 'texts', daysOfMonth: 'numbers' },
    ...{ weekdays: 'texts', months: 'numbers', exceptDates: 'texts' },
  },
};
/** Those without which nothing can be sent. */
const REQUIRED = new Set(['cron.expression', 'cron.timeZone', 'interval.every', 'calendar.timeZone', 'calendar.times']);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function oneOf(checks: FieldChecks, path: string, value: unknown, names: Readonly<Record<string, true>>): void {
  if (typeof value === 'string' && Object.hasOwn(names, value)) return;
  checks.note(path, value, 'is none of its values', `use one of ${Object.keys(names).join(', ')}`);
}

function list(checks: FieldChecks, path: string, value: unknown, kind: 'texts' | 'numbers'): void {
  if (!Array.isArray(value)) return checks.note(path, value, `is ${kindOf(value)}, not a list`, 'pass a list');
  value.forEach((item: unknown, index) => {
    if (kind === 'texts') checks.text(`${path}[${index}]`, item);
    else if (typeof item !== 'number' || !Number.isInteger(item) || Math.abs(item) > 31) {
      checks.note(`${path}[${index}]`, item, 'is not a whole number from -31 to 31', 'pass numbers of days or months');
    }
  });
}

function times(checks: FieldChecks, value: unknown): void {
  const ways = Object.keys(TIMES);
  const given = isObject(value) ? Object.keys(value) : [];
  const [way = ''] = given;
  const fields = Object.hasOwn(TIMES, way) ? TIMES[way] : undefined;
  const said = isObject(value) ? value[way] : undefined;
  if (given.length !== 1 || fields === undefined || !isObject(said)) {
    const shown = isObject(value) ? given.join(', ') : kindOf(value);
    return checks.note('times', shown, `says not exactly one of ${ways.join(', ')}`, 'say when, in one of these ways');
  }
  for (const name of Object.keys(said)) {
    if (!Object.hasOwn(fields, name)) {
      checks.note(`${way}.${snake(name)}`, name, 'is no option', `use one of ${Object.keys(fields).join(', ')}`);
    }
  }
  for (const [name, kind] of Object.entries(fields)) {
    const path = `${way}.${snake(name)}`;
    if (said[name] === undefined && !REQUIRED.has(`${way}.${name}`)) continue;
    if (kind === 'text') checks.text(path, said[name]);
    else list(checks, path, said[name], kind);
  }
}

function catchUp(checks: FieldChecks, value: unknown): void {
  if (!isObject(value)) {
    return checks.note('catch_up', value, `is ${kindOf(value)}, not an object`, 'pass { policy: "LATEST" }');
  }
  checks.names(value, { policy: true, window: true });
  oneOf(checks, 'catch_up.policy', value['policy'], CATCH_UPS);
  if (value['window'] !== undefined) checks.text('catch_up.window', value['window']);
}

/** The options that a schedule is made with and changed by; what is null clears. */
function content(checks: FieldChecks, options: ScheduleUpdate): void {
  const { title, version, attributes, startsAt, endsAt, jitter } = options;
  if (isGiven(title)) checks.text('title', title);
  if (isGiven(version)) checks.whole('version', version);
  if (isGiven(attributes)) checks.texts('attributes', attributes);
  if (isGiven(startsAt)) checks.time('starts_at', startsAt);
  if (isGiven(endsAt)) checks.time('ends_at', endsAt);
  if (isGiven(jitter)) checks.text('jitter', jitter);
  if (options.times !== undefined) times(checks, options.times);
  if (options.overlap !== undefined) oneOf(checks, 'overlap', options.overlap, OVERLAPS);
  if (options.catchUp !== undefined) catchUp(checks, options.catchUp);
}

function page(checks: FieldChecks, { pageSize, cursor }: PageOptions): void {
  if (pageSize !== undefined) checks.whole('pagination.page_size', pageSize);
  if (cursor !== undefined) checks.text('pagination.cursor', cursor);
}

/** A schedule to make. */
export function checkCreate(schedule: NewSchedule): void {
  const checks = new FieldChecks('schedule');
  checks.names(schedule, CREATE_OPTIONS);
  checks.text('slug', schedule.slug);
  const workflow: unknown = schedule.workflow;
  checks.text('family_slug', isObject(workflow) ? workflow['slug'] : workflow);
  if (schedule.times === undefined) times(checks, undefined);
  if (schedule.overlap === undefined) oneOf(checks, 'overlap', undefined, OVERLAPS);
  if (schedule.catchUp === undefined) catchUp(checks, undefined);
  content(checks, schedule);
  checks.done();
}

/** A change of a schedule. */
export function checkUpdate(scheduleId: string, change: ScheduleUpdate): void {
  const checks = new FieldChecks('change of a schedule');
  checks.text('schedule_id', scheduleId);
  checks.names(change, UPDATE_OPTIONS);
  content(checks, change);
  checks.done();
}

/** A call that names a schedule, and may give a reason or a policy. */
export function checkScheduleCall(scheduleId: string, more: { reason?: string; overlap?: OverlapName } = {}): void {
  const checks = new FieldChecks('call about a schedule');
  checks.text('schedule_id', scheduleId);
  checks.names(more, { reason: true, overlap: true });
  if (more.reason !== undefined) checks.text('reason', more.reason);
  if (more.overlap !== undefined) oneOf(checks, 'overlap', more.overlap, OVERLAPS);
  checks.done();
}

/** A range to backfill. */
export function checkBackfill(scheduleId: string, range: BackfillRange): void {
  const checks = new FieldChecks('backfill');
  checks.text('schedule_id', scheduleId);
  checks.names(range, RANGE_OPTIONS);
  checks.time('from', range.from);
  checks.time('to', range.to);
  if (range.overlap !== undefined) oneOf(checks, 'overlap', range.overlap, OVERLAPS);
  checks.done();
}

/** A list of schedules. */
export function checkScheduleList(options: PageOptions): void {
  const checks = new FieldChecks('list of schedules');
  checks.names(options, PAGE_OPTIONS);
  page(checks, options);
  checks.done();
}

/** A list of slots. */
export function checkSlotList(scheduleId: string, options: SlotListOptions): void {
  const checks = new FieldChecks('list of slots');
  checks.text('schedule_id', scheduleId);
  checks.names(options, SLOT_OPTIONS);
  page(checks, options);
  if (options.outcome !== undefined) oneOf(checks, 'outcome', options.outcome, OUTCOMES);
  checks.done();
}
