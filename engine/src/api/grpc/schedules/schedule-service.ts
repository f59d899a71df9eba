/** ScheduleService: schedules made, changed and listed. What is done with them stands in schedule-controls.ts. */
import {
  ScheduleServiceService as S,
  type CreateScheduleRequest,
  type CreateScheduleResponse,
  type DeleteScheduleRequest,
  type DeleteScheduleResponse,
  type GetScheduleRequest,
  type GetScheduleResponse,
  type ListSchedulesRequest,
  type ListSchedulesResponse,
  type Schedule,
  type ScheduleChange,
  type UpdateScheduleRequest,
  type UpdateScheduleResponse,
} from '../../../gen/ductor/v1/schedule.js';
import { DuctorError, type Problem } from '../../../kernel/index.js';
import type { ScheduleContent, ScheduleRecord, Schedules } from '../../../schedules/index.js';
import { deedOf } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { badCursor, decodeCursor, encodeCursor } from '../checks/cursor.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import type { PlanSource, Value, WorkflowCatalog } from '../ports.js';
import { checkAttributes, inputOf } from '../runs/start-run.js';
import { pageEnd } from '../wire/page.js';
import { scheduleOf } from '../wire/schedule.js';
import { catchUpOf, instantOf, jitterOf, overlapOf, specOf } from './schedule-fields.js';

/** What the services need. */
export interface ScheduleParts {
  readonly schedules: Schedules;
  readonly catalog: Pick<WorkflowCatalog, 'currentVersion'>;
  readonly plans: PlanSource;
}

/** Next slots that an answer names. */
const NEXT_SLOTS = 5;
/** Two fewer than a run may have: those that tell schedule and slot. */
const MAX_ATTRIBUTES = 62;

/** A schedule as the contract shows it, with its next slots. */
export function shown(schedules: Schedules, record: ScheduleRecord, nextSlots = NEXT_SLOTS): Schedule {
  return scheduleOf(record, schedules.upcoming(record, nextSlots));
}

/** Checks the name of a schedule in a request. */
export function checkName(scheduleId: string): void {
  const checks = new FieldChecks();
  checks.required('schedule_id', scheduleId);
  checks.done();
}

/** Throws unless the workflow has the version and takes the input: a slot must not be the first to find out. */
async function checkWorkflow(
  { catalog, plans }: ScheduleParts,
  tenantId: string,
  familySlug: string,
  wanted: number,
  input: Value,
): Promise<void> {
  const version = wanted || (await catalog.currentVersion(tenantId, familySlug));
  const plan = await plans.load(tenantId, familySlug, version);
  if (plan === undefined) {
    throw new DuctorError('workflow_not_published', `${familySlug} has no published version ${version}`);
  }
  const remedy = 'Give an input that the input_schema of the version allows.';
  const details: Problem[] = plan.checkInput(input).map((problem) => ({ path: 'input', value: '', problem, remedy }));
  const [first] = details;
  if (first !== undefined) throw new DuctorError('invalid_argument', `input: ${first.problem}`, { details, remedy });
}

function contentOf(request: CreateScheduleRequest): ScheduleContent {
  const checks = new FieldChecks();
  checks.required('slug', request.slug);
  checks.required('family_slug', request.familySlug);
  checks.text('title', request.title, MAX_IDENTIFIER_CHARS * 2);
  checkAttributes(checks, request.attributes, MAX_ATTRIBUTES);
  const spec = specOf(checks, request.times);
  const overlap = overlapOf(checks, request.overlap);
  const catchUp = catchUpOf(checks, request.catchUp);
  const jitterMs = jitterOf(checks, request.jitter);
  const startsAtUs = instantOf(checks, 'starts_at', request.startsAt);
  const endsAtUs = instantOf(checks, 'ends_at', request.endsAt);
  checks.done();
  if (spec === undefined || catchUp === undefined || !overlap) {
    throw new DuctorError('invalid_argument', 'the schedule is not complete');
  }
  const { title, version, attributes } = request;
  return {
    ...{ title, version, attributes: { ...attributes }, spec, overlap, ...catchUp, jitterMs, startsAtUs, endsAtUs },
    input: inputOf(request).value,
  };
}

/** CreateSchedule. */
export function createSchedule(parts: ScheduleParts): Unary<CreateScheduleRequest, CreateScheduleResponse> {
  return async (request, principal) => {
    const { tenantId } = principal;
    const { slug, familySlug } = request;
    const content = contentOf(request);
    await checkWorkflow(parts, tenantId, familySlug, content.version, content.input);
    const schedule = { ...content, slug, familySlug };
    const made = await parts.schedules.create(tenantId, schedule, deedOf(principal, S.createSchedule.path));
    return { data: shown(parts.schedules, made) };
  };
}

/** GetSchedule. */
export function getSchedule({ schedules }: ScheduleParts): Unary<GetScheduleRequest, GetScheduleResponse> {
  return async ({ scheduleId }, { tenantId }) => {
    checkName(scheduleId);
    return { data: shown(schedules, await schedules.get(tenantId, scheduleId)) };
  };
}

/** ListSchedules. A cursor names the last slug of its page. */
export function listSchedules({ schedules }: ScheduleParts): Unary<ListSchedulesRequest, ListSchedulesResponse> {
  return async ({ pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    checks.done();
    const [afterSlug = ''] = cursor === '' ? [''] : decodeCursor(cursor, 1);
    if (cursor !== '' && (afterSlug === '' || afterSlug.length > MAX_IDENTIFIER_CHARS || afterSlug.includes('\0'))) {
      throw badCursor(cursor);
    }
    const records = await schedules.list(tenantId, afterSlug, limit + 1);
    const page = records.slice(0, limit);
    const last = page.at(-1);
    const next = records.length > limit && last !== undefined ? encodeCursor([last.slug]) : '';
    return { data: page.map((record) => shown(schedules, record, 1)), pagination: pageEnd(next) };
  };
}

type Change = (checks: FieldChecks, change: ScheduleChange) => Partial<ScheduleContent>;

const timesChange: Change = (checks, { times }) => {
  const spec = specOf(checks, times);
  return spec === undefined ? {} : { spec };
};

/** What each field of the mask changes. */
const CHANGES: Readonly<Record<string, Change>> = {
  title: (checks, { title }) => {
    checks.text('title', title, MAX_IDENTIFIER_CHARS * 2);
    return { title };
  },
  version: (_checks, { version }) => ({ version }),
  input: (_checks, change) => ({ input: inputOf(change).value }),
  input_payload: (_checks, change) => ({ input: inputOf(change).value }),
  attributes: (checks, { attributes }) => {
    checkAttributes(checks, attributes, MAX_ATTRIBUTES);
    return { attributes: { ...attributes } };
  },
  ...{ cron: timesChange, interval: timesChange, calendar: timesChange },
  starts_at: (checks, { startsAt }) => ({ startsAtUs: instantOf(checks, 'starts_at', startsAt) }),
  ends_at: (checks, { endsAt }) => ({ endsAtUs: instantOf(checks, 'ends_at', endsAt) }),
  overlap: (checks, change) => {
    const overlap = overlapOf(checks, change.overlap);
    return overlap ? { overlap } : {};
  },
  catch_up: (checks, { catchUp }) => catchUpOf(checks, catchUp) ?? {},
  jitter: (checks, { jitter }) => ({ jitterMs: jitterOf(checks, jitter) }),
};

function changeOf({ schedule, updateMask }: UpdateScheduleRequest): Partial<ScheduleContent> {
  const checks = new FieldChecks();
  const names = [...new Set(updateMask ?? [])];
  const known = Object.keys(CHANGES).join(', ');
  if (names.length === 0) checks.note('update_mask', '', 'names no field', `Name some of ${known}.`);
  if (schedule === undefined) checks.note('schedule', '', 'is missing', 'Send what is to change.');
  checks.done();
  const changes = names.map((name) => {
    const change = Object.hasOwn(CHANGES, name) ? CHANGES[name] : undefined;
    if (change !== undefined && schedule !== undefined) return change(checks, schedule);
    checks.note('update_mask', name, 'is no field that can be changed', `Name some of ${known}.`);
    return {};
  });
  checks.done();
  return changes.reduce((all, change) => ({ ...all, ...change }), {});
}

/** UpdateSchedule. */
export function updateSchedule(parts: ScheduleParts): Unary<UpdateScheduleRequest, UpdateScheduleResponse> {
  return async (request, principal) => {
    const { scheduleId, expectedVersion } = request;
    const { tenantId } = principal;
    checkName(scheduleId);
    const change = changeOf(request);
    const { schedules } = parts;
    if (change.version !== undefined || change.input !== undefined) {
      const current = await schedules.get(tenantId, scheduleId);
      const { version, input } = { ...current, ...change };
      await checkWorkflow(parts, tenantId, current.familySlug, version, input);
    }
    const deed = deedOf(principal, S.updateSchedule.path);
    const merge = (current: ScheduleRecord): ScheduleContent => ({ ...current, ...change });
    return { data: shown(schedules, await schedules.update(tenantId, scheduleId, expectedVersion, merge, deed)) };
  };
}

/** DeleteSchedule. */
export function deleteSchedule({ schedules }: ScheduleParts): Unary<DeleteScheduleRequest, DeleteScheduleResponse> {
  return async ({ scheduleId }, principal) => {
    checkName(scheduleId);
    const deed = deedOf(principal, S.deleteSchedule.path);
    return { data: shown(schedules, await schedules.remove(principal.tenantId, scheduleId, deed)) };
  };
}
