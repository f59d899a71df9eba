/** Schedules and slots as the room tells of them. */
import type { SlotSpec } from './slots/spec.js';

/**
 * What becomes of a slot while a run of an earlier one is open: `skip` leaves it out, `buffer_one` lets one wait,
 * `allow` starts it beside, `cancel_previous` cancels what runs, waits for its end and starts the newest.
 */
export type OverlapPolicy = 'skip' | 'buffer_one' | 'allow' | 'cancel_previous';

/** What becomes of slots that passed while no engine ran: all of them start, the latest one only, or none. */
export type CatchUpPolicy = 'all' | 'latest' | 'none';

/** What a schedule says, as people write it. */
export interface ScheduleContent {
  /** For people. */
  readonly title: string;
  readonly spec: SlotSpec;
  /** Version of the workflow; 0: the current one when a slot starts. */
  readonly version: number;
  readonly input: { readonly data: Uint8Array; readonly encoding: string };
  /** Attributes of its runs. */
  readonly attributes: Readonly<Record<string, string>>;
  /** First and last instant at which slots count, microseconds since 1970; null: no bound. */
  readonly startsAtUs: number | null;
  readonly endsAtUs: number | null;
  readonly overlap: OverlapPolicy;
  readonly catchUp: CatchUpPolicy;
  /** Slots that are later than this start nothing, whatever the policy. */
  readonly catchUpWindowMs: number;
  /** Starts are spread over so long after their slots. */
  readonly jitterMs: number;
}

/** A schedule to make. */
export interface NewSchedule extends ScheduleContent {
  /** Name, unique in the tenant. */
  readonly slug: string;
  readonly familySlug: string;
}

/** A stored schedule. */
export interface ScheduleRecord extends NewSchedule {
  readonly tenantId: string;
  readonly id: string;
  readonly isPaused: boolean;
  readonly pauseReason: string;
  /** The slot that comes next; null: paused, or there is none any more. */
  readonly nextSlotUs: number | null;
  /** Counted up by each change that people make. */
  readonly recordVersion: number;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

/** Why there is a slot: its time came, a backfill asked for it, somebody triggered it. */
export type SlotSource = 'time' | 'backfill' | 'trigger';

/** What became of a slot. The first three are on the way; all others last, unless a backfill asks again. */
export type SlotOutcome =
  'due' | 'starting' | 'buffered' | 'started' | 'skipped_overlap' | 'missed_catch_up' | 'failed';

/** A slot and what became of it. */
export interface SlotRecord {
  /** Microseconds since 1970. */
  readonly slotUs: number;
  /** Slot and jitter. */
  readonly dueUs: number;
  readonly source: SlotSource;
  readonly outcome: SlotOutcome;
  /** In words; empty where the outcome says all. */
  readonly reason: string;
  readonly runId: string | null;
  readonly decidedAtUs: number | null;
}
