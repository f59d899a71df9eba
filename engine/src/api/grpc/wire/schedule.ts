/** Schedules and slots as the contract shows them. */
import {
  CatchUpPolicy as WireCatchUp,
  OverlapPolicy as WireOverlap,
  SlotOutcome as WireOutcome,
  SlotSource as WireSource,
  type Schedule,
  type ScheduleSlot,
} from '../../../gen/ductor/v1/schedule.js';
import { formatDurationMs } from '../../../kernel/index.js';
import type {
  CatchUpPolicy,
  OverlapPolicy,
  ScheduleRecord,
  SlotOutcome,
  SlotRecord,
  SlotSource,
  SlotSpec,
} from '../../../schedules/index.js';
import { timestampOf } from './timestamp.js';
import { jsonOf } from './value.js';

/** Overlap policies by name. One that the contract lacks does not compile; so with the tables below. */
export const OVERLAPS: Readonly<Record<OverlapPolicy, WireOverlap>> = {
  skip: WireOverlap.OVERLAP_POLICY_SKIP,
  buffer_one: WireOverlap.OVERLAP_POLICY_BUFFER_ONE,
  allow: WireOverlap.OVERLAP_POLICY_ALLOW,
  cancel_previous: WireOverlap.OVERLAP_POLICY_CANCEL_PREVIOUS,
};

/** Catch-up policies by name. */
export const CATCH_UPS: Readonly<Record<CatchUpPolicy, WireCatchUp>> = {
  all: WireCatchUp.CATCH_UP_POLICY_ALL,
  latest: WireCatchUp.CATCH_UP_POLICY_LATEST,
  none: WireCatchUp.CATCH_UP_POLICY_NONE,
};

/** Outcomes of slots by name. */
export const OUTCOMES: Readonly<Record<SlotOutcome, WireOutcome>> = {
  due: WireOutcome.SLOT_OUTCOME_DUE,
  starting: WireOutcome.SLOT_OUTCOME_STARTING,
  buffered: WireOutcome.SLOT_OUTCOME_BUFFERED,
  started: WireOutcome.SLOT_OUTCOME_STARTED,
  skipped_overlap: WireOutcome.SLOT_OUTCOME_SKIPPED_OVERLAP,
  missed_catch_up: WireOutcome.SLOT_OUTCOME_MISSED_CATCH_UP,
  failed: WireOutcome.SLOT_OUTCOME_FAILED,
};

const SOURCES: Readonly<Record<SlotSource, WireSource>> = {
  time: WireSource.SLOT_SOURCE_TIME,
  backfill: WireSource.SLOT_SOURCE_BACKFILL,
  trigger: WireSource.SLOT_SOURCE_TRIGGER,
};

/** The name of a number in one of the tables; undefined for numbers that stand in none. */
export function nameIn<Name extends string>(table: Readonly<Record<Name, number>>, number: number): Name | undefined {
  const isName = (text: string): text is Name => Object.hasOwn(table, text);
  return Object.keys(table)
    .filter(isName)
    .find((name) => table[name] === number);
}

function timesOf(spec: SlotSpec): Schedule['times'] {
  switch (spec.kind) {
    case 'cron':
      return { $case: 'cron', value: { expression: spec.expression, timeZone: spec.timeZone } };
    case 'interval':
      return {
        $case: 'interval',
        value: { every: formatDurationMs(spec.everyMs), offset: formatDurationMs(spec.offsetMs) },
      };
    case 'calendar': {
      const { timeZone, times, dates, daysOfMonth, weekdays, months, exceptDates } = spec;
      return {
        $case: 'calendar',
        value: {
          timeZone,
          ...{ times: [...times], dates: [...dates], daysOfMonth: [...daysOfMonth], weekdays: [...weekdays] },
          ...{ months: [...months], exceptDates: [...exceptDates] },
        },
      };
    }
  }
}

const maybe = (us: number | null): Schedule['startsAt'] => (us === null ? undefined : timestampOf(us));

/** The message ductor.v1.Schedule. */
export function scheduleOf(record: ScheduleRecord, nextSlotsUs: readonly number[]): Schedule {
  return {
    id: record.id,
    slug: record.slug,
    title: record.title,
    familySlug: record.familySlug,
    version: record.version,
    input: jsonOf(record.input),
    attributes: { ...record.attributes },
    times: timesOf(record.spec),
    startsAt: maybe(record.startsAtUs),
    endsAt: maybe(record.endsAtUs),
    overlap: OVERLAPS[record.overlap],
    catchUp: { policy: CATCH_UPS[record.catchUp], window: formatDurationMs(record.catchUpWindowMs) },
    jitter: formatDurationMs(record.jitterMs),
    paused: record.isPaused,
    pauseReason: record.pauseReason,
    nextSlots: nextSlotsUs.map(timestampOf),
    recordVersion: record.recordVersion,
    createdAt: timestampOf(record.createdAtUs),
    updatedAt: timestampOf(record.updatedAtUs),
  };
}

/** The message ductor.v1.ScheduleSlot. */
export function slotOf(slot: SlotRecord): ScheduleSlot {
  return {
    slotAt: timestampOf(slot.slotUs),
    dueAt: timestampOf(slot.dueUs),
    source: SOURCES[slot.source],
    outcome: OUTCOMES[slot.outcome],
    reason: slot.reason,
    runId: slot.runId ?? '',
    decidedAt: maybe(slot.decidedAtUs),
  };
}
