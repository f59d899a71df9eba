/** A row of ductor.schedule as a record. */
import type { Row } from '../../store/index.js';
import type { CatchUpPolicy, OverlapPolicy, ScheduleRecord } from '../schedule.js';
import type { SlotSpec } from '../slots/spec.js';

/** Columns of a ScheduleRow, in any `select … from ductor.schedule s`. */
export const SCHEDULE_COLUMNS = `s.tenant_id::text, s.schedule_id::text, s.slug, s.title, s.family_slug, s.version,
  s.spec, s.attributes, s.input, s.input_encoding, s.starts_at, s.ends_at, s.overlap, s.catch_up, s.catch_up_window_ms,
  s.jitter_ms, s.is_paused, s.pause_reason, s.next_slot, s.record_version, s.created_at, s.updated_at`;

/** A row as node-postgres gives it. */
export interface ScheduleRow extends Row {
  readonly tenant_id: string;
  readonly schedule_id: string;
  readonly slug: string;
  readonly title: string;
  readonly family_slug: string;
  readonly version: number;
  readonly spec: SlotSpec;
  readonly attributes: Readonly<Record<string, string>>;
  readonly input: Buffer;
  readonly input_encoding: string;
  readonly starts_at: number | null;
  readonly ends_at: number | null;
  readonly overlap: OverlapPolicy;
  readonly catch_up: CatchUpPolicy;
  readonly catch_up_window_ms: number;
  readonly jitter_ms: number;
  readonly is_paused: boolean;
  readonly pause_reason: string;
  readonly next_slot: number | null;
  readonly record_version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The record of a row. */
export function toScheduleRecord(row: ScheduleRow): ScheduleRecord {
  return {
    tenantId: row.tenant_id,
    id: row.schedule_id,
    slug: row.slug,
    title: row.title,
    familySlug: row.family_slug,
    version: row.version,
    spec: row.spec,
    attributes: row.attributes,
    input: { data: row.input, encoding: row.input_encoding },
    startsAtUs: row.starts_at,
    endsAtUs: row.ends_at,
    overlap: row.overlap,
    catchUp: row.catch_up,
    catchUpWindowMs: row.catch_up_window_ms,
    jitterMs: row.jitter_ms,
    isPaused: row.is_paused,
    pauseReason: row.pause_reason,
    nextSlotUs: row.next_slot,
    recordVersion: row.record_version,
    createdAtUs: row.created_at,
    updatedAtUs: row.updated_at,
  };
}
