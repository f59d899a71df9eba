/** Schedules as the client shows them: names instead of numbers, Dates instead of timestamps. */
import {
  CatchUpPolicy,
  type CreateScheduleRequest,
  OverlapPolicy,
  type Schedule,
  type ScheduleSlot,
  SlotOutcome,
  SlotSource,
} from '../gen/ductor/v1/schedule.js';
import { dateOf } from './run-view.js';

/** What becomes of a slot while a run of an earlier one is open. */
export type OverlapName = 'SKIP' | 'BUFFER_ONE' | 'ALLOW' | 'CANCEL_PREVIOUS';

/** What becomes of slots that passed while no engine ran. */
export type CatchUpName = 'ALL' | 'LATEST' | 'NONE';

/** What became of a slot. */
export type SlotOutcomeName =
  'DUE' | 'STARTING' | 'BUFFERED' | 'STARTED' | 'SKIPPED_OVERLAP' | 'MISSED_CATCH_UP' | 'FAILED';

/** When a schedule happens: by a cron pattern, every so often, or on days of the calendar. */
export type ScheduleTimes =
  | {
      readonly cron: {
        /** Minute, hour, day, month, weekday: "0 9 * * MON-FRI". Seconds may stand in front. */
        readonly expression: string;
        /** IANA name: "Europe/Berlin". */
        readonly timeZone: string;
      };
    }
  | {
      readonly interval: {
        /** "10m"; at least "1s". */
        readonly every: string;
        /** Less than every. Default "0s". */
        readonly offset?: string;
      };
    }
  | {
      readonly calendar: {
        readonly timeZone: string;
        /** "09:00" or "09:00:30". */
        readonly times: readonly string[];
        /** "2026-12-24". */
        readonly dates?: readonly string[];
        /** 1 to 31; -1 is the last day of the month. */
        readonly daysOfMonth?: readonly number[];
        /** "monday" to "sunday". */
        readonly weekdays?: readonly string[];
        /** 1 to 12. Default: all. */
        readonly months?: readonly number[];
        /** Days that never count. */
        readonly exceptDates?: readonly string[];
      };
    };

/** A schedule. */
export interface ScheduleView {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly workflow: string;
  /** 0: the current one when a slot starts. */
  readonly version: number;
  readonly input: unknown;
  readonly attributes: Readonly<Record<string, string>>;
  readonly times: ScheduleTimes | undefined;
  readonly startsAt: Date | undefined;
  readonly endsAt: Date | undefined;
  readonly overlap: OverlapName;
  readonly catchUp: { readonly policy: CatchUpName; readonly window: string };
  readonly jitter: string;
  readonly paused: boolean;
  readonly pauseReason: string;
  /** At most 5, in lists at most 1. */
  readonly nextSlots: readonly Date[];
  readonly createdAt: Date | undefined;
}

/** A slot and what became of it. */
export interface SlotView {
  readonly slotAt: Date | undefined;
  /** The slot, and its share of the jitter. */
  readonly dueAt: Date | undefined;
  /** TIME, BACKFILL or TRIGGER. */
  readonly source: string;
  readonly outcome: SlotOutcomeName;
  /** In words. */
  readonly reason: string;
  /** undefined: it started none. */
  readonly runId: string | undefined;
}

const OUTCOMES: ReadonlyMap<SlotOutcome, SlotOutcomeName> = new Map([
  [SlotOutcome.SLOT_OUTCOME_DUE, 'DUE'],
  [SlotOutcome.SLOT_OUTCOME_STARTING, 'STARTING'],
  [SlotOutcome.SLOT_OUTCOME_BUFFERED, 'BUFFERED'],
  [SlotOutcome.SLOT_OUTCOME_STARTED, 'STARTED'],
  [SlotOutcome.SLOT_OUTCOME_SKIPPED_OVERLAP, 'SKIPPED_OVERLAP'],
  [SlotOutcome.SLOT_OUTCOME_MISSED_CATCH_UP, 'MISSED_CATCH_UP'],
  [SlotOutcome.SLOT_OUTCOME_FAILED, 'FAILED'],
]);
const OVERLAPS: ReadonlyMap<OverlapPolicy, OverlapName> = new Map([
  [OverlapPolicy.OVERLAP_POLICY_SKIP, 'SKIP'],
  [OverlapPolicy.OVERLAP_POLICY_BUFFER_ONE, 'BUFFER_ONE'],
  [OverlapPolicy.OVERLAP_POLICY_ALLOW, 'ALLOW'],
  [OverlapPolicy.OVERLAP_POLICY_CANCEL_PREVIOUS, 'CANCEL_PREVIOUS'],
]);
const CATCH_UPS: ReadonlyMap<CatchUpPolicy, CatchUpName> = new Map([
  [CatchUpPolicy.CATCH_UP_POLICY_ALL, 'ALL'],
  [CatchUpPolicy.CATCH_UP_POLICY_LATEST, 'LATEST'],
  [CatchUpPolicy.CATCH_UP_POLICY_NONE, 'NONE'],
]);
const SOURCE_PREFIX = 'SLOT_SOURCE_';

/** Times on the wire. */
export function timesMessage(times: ScheduleTimes): CreateScheduleRequest['times'] {
  if ('cron' in times) return { $case: 'cron', value: { ...times.cron } };
  if ('interval' in times) return { $case: 'interval', value: { offset: '', ...times.interval } };
  const { timeZone, dates = [], daysOfMonth = [], weekdays = [], months = [], exceptDates = [] } = times.calendar;
  return {
    $case: 'calendar',
    value: {
      ...{ timeZone, times: [...times.calendar.times], dates: [...dates], daysOfMonth: [...daysOfMonth] },
      ...{ weekdays: [...weekdays], months: [...months], exceptDates: [...exceptDates] },
    },
  };
}

function timesView({ times }: Schedule): ScheduleTimes | undefined {
  switch (times?.$case) {
    case 'cron':
      return { cron: times.value };
    case 'interval':
      return { interval: times.value };
    case 'calendar':
      return { calendar: times.value };
    case undefined:
      return undefined;
  }
}

/** A schedule as the client shows it. Policies that a newer engine added read as SKIP and NONE. */
export function scheduleView(schedule: Schedule): ScheduleView {
  const { id, slug, title, familySlug, version, input, attributes, jitter, paused, pauseReason } = schedule;
  const { policy = CatchUpPolicy.CATCH_UP_POLICY_NONE, window = '' } = schedule.catchUp ?? {};
  return {
    ...{ id, slug, title, workflow: familySlug, version, input, attributes, jitter, paused, pauseReason },
    times: timesView(schedule),
    startsAt: dateOf(schedule.startsAt),
    endsAt: dateOf(schedule.endsAt),
    overlap: OVERLAPS.get(schedule.overlap) ?? 'SKIP',
    catchUp: { policy: CATCH_UPS.get(policy) ?? 'NONE', window },
    nextSlots: schedule.nextSlots.map(dateOf).filter((date) => date !== undefined),
    createdAt: dateOf(schedule.createdAt),
  };
}

/** A slot as the client shows it. An outcome that a newer engine added reads as DUE. */
export function slotView(slot: ScheduleSlot): SlotView {
  return {
    slotAt: dateOf(slot.slotAt),
    dueAt: dateOf(slot.dueAt),
    source: (SlotSource[slot.source] ?? `${SOURCE_PREFIX}UNKNOWN`).slice(SOURCE_PREFIX.length),
    outcome: OUTCOMES.get(slot.outcome) ?? 'DUE',
    reason: slot.reason,
    runId: slot.runId === '' ? undefined : slot.runId,
  };
}
