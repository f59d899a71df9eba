import type { Queryable } from '../../store/index.js';
import type { ScheduleContent, ScheduleRecord } from '../schedule.js';
import { SCHEDULE_COLUMNS, toScheduleRecord, type ScheduleRow } from './schedule-row.js';

/** What a schedule is from now on. */
export interface ScheduleToUpdate extends ScheduleContent {
  readonly tenantId: string;
  readonly id: string;
  readonly isPaused: boolean;
  readonly pauseReason: string;
  readonly nextSlotUs: number | null;
  readonly dueUs: number | null;
}

/** Writes a schedule that is locked; undefined when there is none. */
export async function updateSchedule(tx: Queryable, schedule: ScheduleToUpdate): Promise<ScheduleRecord | undefined> {
  const { input } = schedule;
  const { rows } = await tx.query<ScheduleRow>(
    `update ductor.schedule s set title = $3, version = $4, spec = $5::jsonb, attributes = $6::jsonb,
        input = $7::bytea, input_encoding = $8, starts_at = $9, ends_at = $10, overlap = $11, catch_up = $12,
        catch_up_window_ms = $13, jitter_ms = $14, is_paused = $15, pause_reason = $16, next_slot = $17, due_at = $18,
        record_version = s.record_version + 1, updated_at = ductor.now_us()
      where s.tenant_id = $1::uuid and s.schedule_id = $2::uuid returning ${SCHEDULE_COLUMNS}`,
    [
      ...[schedule.tenantId, schedule.id, schedule.title, schedule.version, JSON.stringify(schedule.spec)],
      ...[JSON.stringify(schedule.attributes), Buffer.from(input.data), input.encoding],
      ...[schedule.startsAtUs, schedule.endsAtUs, schedule.overlap, schedule.catchUp, schedule.catchUpWindowMs],
      ...[schedule.jitterMs, schedule.isPaused, schedule.pauseReason, schedule.nextSlotUs, schedule.dueUs],
    ],
  );
  return rows[0] && toScheduleRecord(rows[0]);
}
