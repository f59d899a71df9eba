/** What calls about schedules are given. */
import type { Workflow } from '../workflow/define-workflow.js';
import type { CatchUpName, OverlapName, ScheduleTimes, SlotOutcomeName } from './schedule-view.js';

/** What can be said of a schedule, and changed later. */
export interface ScheduleOptions<In = unknown> {
  /** For people. */
  readonly title?: string;
  /** A published version. Default: the current one when a slot starts. */
  readonly version?: number;
  /** Input of its runs. Default: null. */
  readonly input?: In;
  /** Searchable labels of its runs, which get ductor.schedule and ductor.slot beside. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** No slot before it. */
  readonly startsAt?: Date;
  /** No slot after it. */
  readonly endsAt?: Date;
  /** Starts are spread over so long after their slots: "30s". Default "0s". */
  readonly jitter?: string;
}

/** What must be said of a schedule. */
export interface SchedulePolicies {
  readonly times: ScheduleTimes;
  /** What becomes of a slot while a run of an earlier one is open. */
  readonly overlap: OverlapName;
  /** What becomes of slots that passed while no engine ran; within `window`, default "24h". */
  readonly catchUp: { readonly policy: CatchUpName; readonly window?: string };
}

/** A schedule to make. */
export interface NewSchedule<In = unknown> extends SchedulePolicies, ScheduleOptions<In> {
  /** Name, unique in the tenant: lower-case letters, digits, hyphens. */
  readonly slug: string;
  /** The workflow whose runs it starts. */
  readonly workflow: string | Workflow<In, unknown>;
}

/** Where a list goes on. */
export interface PageOptions {
  /** Items per page, 1 to 200. Default 50. */
  readonly pageSize?: number;
  /** Where the last page ended. */
  readonly cursor?: string;
}

/** Which slots to list. */
export interface SlotListOptions extends PageOptions {
  readonly outcome?: SlotOutcomeName;
}

/** A range to backfill; both ends count. */
export interface BackfillRange {
  readonly from: Date;
  readonly to: Date;
  /** What becomes of slots that overlap. Default ALLOW. */
  readonly overlap?: OverlapName;
}

type Nullable<T> = { readonly [Key in keyof T]?: T[Key] | null };

/** What is to change of a schedule. */
export type ScheduleUpdate = Nullable<ScheduleOptions> & Partial<SchedulePolicies>;
