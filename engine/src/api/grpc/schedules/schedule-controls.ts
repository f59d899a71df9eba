/** ScheduleService: pausing, resuming, triggering, backfilling, and what became of slots. */
import {
  ScheduleServiceService as S,
  SlotOutcome as WireOutcome,
  type BackfillScheduleRequest,
  type BackfillScheduleResponse,
  type ListScheduleSlotsRequest,
  type ListScheduleSlotsResponse,
  type PauseScheduleRequest,
  type PauseScheduleResponse,
  type ResumeScheduleRequest,
  type ResumeScheduleResponse,
  type TriggerScheduleRequest,
  type TriggerScheduleResponse,
} from '../../../gen/ductor/v1/schedule.js';
import { deedOf } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { cursorNumber, decodeCursor, encodeCursor } from '../checks/cursor.js';
import { FieldChecks } from '../checks/field-checks.js';
import { pageEnd } from '../wire/page.js';
import { nameIn, OUTCOMES, slotOf } from '../wire/schedule.js';
import { instantOf, overlapOf } from './schedule-fields.js';
import { checkName, shown, type ScheduleParts } from './schedule-service.js';

const MAX_REASON_CHARS = 1_024;
/** Later than any slot: where a list begins. */
const FROM_NEWEST_US = Number.MAX_SAFE_INTEGER;

/** PauseSchedule. */
export function pauseSchedule({ schedules }: ScheduleParts): Unary<PauseScheduleRequest, PauseScheduleResponse> {
  return async ({ scheduleId, reason }, principal) => {
    const checks = new FieldChecks();
    checks.required('schedule_id', scheduleId);
    checks.text('reason', reason, MAX_REASON_CHARS);
    checks.done();
    const deed = deedOf(principal, S.pauseSchedule.path, reason);
    return { data: shown(schedules, await schedules.pause(principal.tenantId, scheduleId, reason, deed)) };
  };
}

/** ResumeSchedule. */
export function resumeSchedule({ schedules }: ScheduleParts): Unary<ResumeScheduleRequest, ResumeScheduleResponse> {
  return async ({ scheduleId }, principal) => {
    checkName(scheduleId);
    const deed = deedOf(principal, S.resumeSchedule.path);
    return { data: shown(schedules, await schedules.resume(principal.tenantId, scheduleId, deed)) };
  };
}

/** TriggerSchedule. */
export function triggerSchedule({ schedules }: ScheduleParts): Unary<TriggerScheduleRequest, TriggerScheduleResponse> {
  return async (request, principal) => {
    const { scheduleId } = request;
    const checks = new FieldChecks();
    checks.required('schedule_id', scheduleId);
    const overlap = overlapOf(checks, request.overlap, null) ?? null;
    checks.done();
    const deed = deedOf(principal, S.triggerSchedule.path);
    return { data: slotOf(await schedules.trigger(principal.tenantId, scheduleId, overlap, deed)) };
  };
}

/** BackfillSchedule. */
export function backfillSchedule({
  schedules,
}: ScheduleParts): Unary<BackfillScheduleRequest, BackfillScheduleResponse> {
  return async (request, principal) => {
    const { scheduleId } = request;
    const checks = new FieldChecks();
    checks.required('schedule_id', scheduleId);
    const fromUs = instantOf(checks, 'from', request.from);
    const toUs = instantOf(checks, 'to', request.to);
    if (request.from === undefined) checks.note('from', '', 'is missing', 'Say where the range begins.');
    if (request.to === undefined) checks.note('to', '', 'is missing', 'Say where the range ends.');
    const overlap = overlapOf(checks, request.overlap, 'allow') ?? 'allow';
    checks.done();
    const range = { fromUs: fromUs ?? 0, toUs: toUs ?? 0, overlap };
    const deed = deedOf(principal, S.backfillSchedule.path);
    return { data: await schedules.backfill(principal.tenantId, scheduleId, range, deed) };
  };
}

/** ListScheduleSlots. A cursor names the last slot of its page. */
export function listScheduleSlots({
  schedules,
}: ScheduleParts): Unary<ListScheduleSlotsRequest, ListScheduleSlotsResponse> {
  return async ({ scheduleId, pagination, outcome }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.required('schedule_id', scheduleId);
    const { limit, cursor } = checks.page(pagination);
    const wanted = nameIn(OUTCOMES, outcome);
    if (wanted === undefined && outcome !== WireOutcome.SLOT_OUTCOME_UNSPECIFIED) {
      checks.note('outcome', String(outcome), 'is no outcome of slots', 'Name one.');
    }
    checks.done();
    const beforeUs = cursor === '' ? FROM_NEWEST_US : cursorNumber(decodeCursor(cursor, 1)[0], cursor);
    const filter = wanted === undefined ? {} : { outcome: wanted };
    const slots = await schedules.slots(tenantId, scheduleId, { beforeUs, limit: limit + 1, ...filter });
    const page = slots.slice(0, limit);
    const last = page.at(-1);
    const next = slots.length > limit && last !== undefined ? encodeCursor([last.slotUs]) : '';
    return { data: page.map(slotOf), pagination: pageEnd(next) };
  };
}
