/** Schedules: runs that start by the clock. */
import type {
  CallOptions,
  ChannelCredentials,
  ClientOptions,
  ClientUnaryCall,
  Metadata,
  ServiceError,
} from '@grpc/grpc-js';
import {
  type BackfillScheduleResponse,
  CatchUpPolicy,
  CreateScheduleRequest,
  type ListScheduleSlotsResponse,
  type ListSchedulesResponse,
  OverlapPolicy,
  type Schedule,
  ScheduleChange,
  ScheduleServiceClient,
  SlotOutcome,
  type TriggerScheduleResponse,
} from '../gen/ductor/v1/schedule.js';
import type { ValueCoder } from '../values/payload-codec.js';
import { timestampOf } from './run-view.js';
import {
  checkBackfill,
  checkCreate,
  checkScheduleCall,
  checkScheduleList,
  checkSlotList,
  checkUpdate,
} from './schedule-checks.js';
import type {
  BackfillRange,
  NewSchedule,
  PageOptions,
  SchedulePolicies,
  ScheduleUpdate,
  SlotListOptions,
} from './schedule-options.js';
import {
  type OverlapName,
  type ScheduleView,
  type SlotView,
  scheduleView,
  slotView,
  timesMessage,
} from './schedule-view.js';
import { present, unary } from './unary.js';

/** A page of schedules. */
export interface SchedulePage {
  readonly schedules: readonly ScheduleView[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/** A page of slots. */
export interface SlotPage {
  readonly slots: readonly SlotView[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/** Calls about schedules. `id` is the id of a schedule or its slug; all throw DuctorError, not_found among others. */
export interface ScheduleCalls {
  /** Throws ZodError for an input the workflow's schema refuses, DuctorError schedule_exists, invalid_argument. */
  create<In>(schedule: NewSchedule<In>): Promise<ScheduleView>;
  get(id: string): Promise<ScheduleView>;
  list(options?: PageOptions): Promise<SchedulePage>;
  /** Changes what is given. `null` clears: no bound, no title, no attributes. */
  update(id: string, change: ScheduleUpdate): Promise<ScheduleView>;
  pause(id: string, reason?: string): Promise<ScheduleView>;
  resume(id: string): Promise<ScheduleView>;
  /** Makes a slot of this very moment. */
  trigger(id: string, options?: { readonly overlap?: OverlapName }): Promise<SlotView>;
  /** Starts the slots of a range that started nothing so far. */
  backfill(id: string, range: BackfillRange): Promise<{ readonly added: number; readonly kept: number }>;
  /** What became of slots, newest first. */
  slots(id: string, options?: SlotListOptions): Promise<SlotPage>;
  /** Deletes the schedule and its slots. Its runs go on. */
  delete(id: string): Promise<ScheduleView>;
}

/** Credentials and deadline of the next call. */
type Setup = () => { readonly metadata: Metadata; readonly options: CallOptions };

function overlapNumber(name: OverlapName | undefined): OverlapPolicy {
  return name === undefined ? OverlapPolicy.OVERLAP_POLICY_UNSPECIFIED : OverlapPolicy[`OVERLAP_POLICY_${name}`];
}

function catchUpMessage({ policy, window = '' }: SchedulePolicies['catchUp']): ScheduleChange['catchUp'] {
  return { policy: CatchUpPolicy[`CATCH_UP_POLICY_${policy}`], window };
}

function createRequest<In>(values: ValueCoder, schedule: NewSchedule<In>): CreateScheduleRequest {
  const { slug, workflow, title = '', version = 0, attributes = {}, input, jitter = '', startsAt, endsAt } = schedule;
  const familySlug = typeof workflow === 'string' ? workflow : workflow.slug;
  const checked = typeof workflow === 'string' || input === undefined ? input : workflow.parseInput(input);
  return CreateScheduleRequest.fromPartial({
    ...{ slug, title, familySlug, version, attributes: { ...attributes }, jitter },
    inputPayload: values.toPayload(checked, `input of ${slug}`),
    times: timesMessage(schedule.times),
    overlap: overlapNumber(schedule.overlap),
    catchUp: catchUpMessage(schedule.catchUp),
    ...(startsAt !== undefined && { startsAt: timestampOf(startsAt) }),
    ...(endsAt !== undefined && { endsAt: timestampOf(endsAt) }),
  });
}

/** The change and its mask: what is undefined stays, what is null is named and not there. */
function changeRequest(
  values: ValueCoder,
  change: ScheduleUpdate,
): { readonly schedule: ScheduleChange; readonly updateMask: string[] } {
  const { title, version, input, attributes, startsAt, endsAt, jitter, times, overlap, catchUp } = change;
  const mask: string[] = [];
  const named = <T, U>(field: string, value: T | null | undefined, message: (value: T) => U): U | undefined => {
    if (value === undefined) return undefined;
    mask.push(field);
    return value === null ? undefined : message(value);
  };
  const same = <T>(value: T): T => value;
  const schedule = ScheduleChange.fromPartial({
    title: named('title', title, same) ?? '',
    version: named('version', version, same) ?? 0,
    inputPayload: named('input_payload', input, (value) => values.toPayload(value, 'input of the schedule')),
    attributes: named('attributes', attributes, (value) => ({ ...value })) ?? {},
    startsAt: named('starts_at', startsAt, timestampOf),
    endsAt: named('ends_at', endsAt, timestampOf),
    jitter: named('jitter', jitter, same) ?? '',
    overlap: named('overlap', overlap, overlapNumber) ?? OverlapPolicy.OVERLAP_POLICY_UNSPECIFIED,
    catchUp: named('catch_up', catchUp, catchUpMessage),
    ...(times !== undefined && { times: timesMessage(times) }),
  });
  if (times !== undefined) mask.push(Object.keys(times)[0] ?? 'cron');
  return { schedule, updateMask: mask };
}

function pageOf({ pageSize = 0, cursor = '' }: PageOptions): { pageSize: number; cursor: string; nextCursor: string } {
  return { pageSize, cursor, nextCursor: '' };
}

const next = (cursor: string | undefined): string | undefined => (cursor === '' ? undefined : cursor);

/** What a call that answers one schedule takes after its request. */
type Rest = [Metadata, CallOptions, (error: ServiceError | null, response: { data: Schedule | undefined }) => void];

/** A channel's calls about schedules. */
export interface ScheduleChannel {
  readonly calls: ScheduleCalls;
  close(): void;
}

/** Sends a request with credentials and deadline. */
type Ask = <T>(
  call: (rest: [Metadata, CallOptions, (error: ServiceError | null, response: T) => void]) => ClientUnaryCall,
) => Promise<T>;

/** The calls that answer slots. */
function slotCalls(client: ScheduleServiceClient, ask: Ask): Pick<ScheduleCalls, 'trigger' | 'backfill' | 'slots'> {
  return {
    async trigger(scheduleId, options = {}) {
      checkScheduleCall(scheduleId, options);
      const { overlap } = options;
      const request = { scheduleId, overlap: overlapNumber(overlap) };
      const { data } = await ask<TriggerScheduleResponse>((rest) => client.triggerSchedule(request, ...rest));
      return slotView(present(data));
    },
    async backfill(scheduleId, given) {
      checkBackfill(scheduleId, given);
      const { from, to, overlap } = given;
      const range = { from: timestampOf(from), to: timestampOf(to), overlap: overlapNumber(overlap) };
      const { data } = await ask<BackfillScheduleResponse>((rest) =>
        client.backfillSchedule({ scheduleId, ...range }, ...rest),
      );
      return present(data);
    },
    async slots(scheduleId, options = {}) {
      checkSlotList(scheduleId, options);
      const { outcome, ...page } = options;
      const wanted =
        outcome === undefined ? SlotOutcome.SLOT_OUTCOME_UNSPECIFIED : SlotOutcome[`SLOT_OUTCOME_${outcome}`];
      const { data, pagination } = await ask<ListScheduleSlotsResponse>((rest) =>
        client.listScheduleSlots({ scheduleId, pagination: pageOf(page), outcome: wanted }, ...rest),
      );
      return { slots: data.map(slotView), nextCursor: next(pagination?.nextCursor) };
    },
  };
}

/** Opens them. */
export function scheduleCalls(
  target: string,
  credentials: ChannelCredentials,
  options: ClientOptions,
  values: ValueCoder,
  setup: Setup,
): ScheduleChannel {
  const client = new ScheduleServiceClient(target, credentials, options);
  const ask: Ask = (call) => {
    const { metadata, options: callOptions } = setup();
    return unary((done) => call([metadata, callOptions, done]));
  };
  const one = async (call: (rest: Rest) => ClientUnaryCall): Promise<ScheduleView> => {
    const { data } = await ask<{ data: Schedule | undefined }>(call);
    return scheduleView(present(data));
  };
  const named = async (scheduleId: string, call: (rest: Rest) => ClientUnaryCall): Promise<ScheduleView> => {
    checkScheduleCall(scheduleId);
    return one(call);
  };
  const calls: ScheduleCalls = {
    create: async (schedule) => {
      checkCreate(schedule);
      const request = createRequest(values, schedule);
      return one((rest) => client.createSchedule(request, ...rest));
    },
    get: (scheduleId) => named(scheduleId, (rest) => client.getSchedule({ scheduleId }, ...rest)),
    async list(page = {}) {
      checkScheduleList(page);
      const { data, pagination } = await ask<ListSchedulesResponse>((rest) =>
        client.listSchedules({ pagination: pageOf(page) }, ...rest),
      );
      return { schedules: data.map(scheduleView), nextCursor: next(pagination?.nextCursor) };
    },
    async update(scheduleId, change) {
      checkUpdate(scheduleId, change);
      const request = { scheduleId, expectedVersion: 0, ...changeRequest(values, change) };
      return one((rest) => client.updateSchedule(request, ...rest));
    },
    async pause(scheduleId, reason = '') {
      checkScheduleCall(scheduleId, { reason });
      return one((rest) => client.pauseSchedule({ scheduleId, reason }, ...rest));
    },
    resume: (scheduleId) => named(scheduleId, (rest) => client.resumeSchedule({ scheduleId }, ...rest)),
    delete: (scheduleId) => named(scheduleId, (rest) => client.deleteSchedule({ scheduleId }, ...rest)),
    ...slotCalls(client, ask),
  };
  return { calls, close: () => client.close() };
}
