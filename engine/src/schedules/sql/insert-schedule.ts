import type { Queryable } from '../../store/index.js';
import type { NewSchedule, ScheduleRecord } from '../schedule.js';
import { SCHEDULE_COLUMNS, toScheduleRecord, type ScheduleRow } from './schedule-row.js';

/** A schedule to store. */
export interface ScheduleToInsert extends NewSchedule {
  readonly tenantId: string;
  readonly id: string;
  readonly shard: number;
  readonly nextSlotUs: number | null;
  readonly dueUs: number | null;
}

/** Stores a schedule; undefined: there is one of the name already. */
export async function insertSchedule(db: Queryable, schedule: ScheduleToInsert): Promise<ScheduleRecord | undefined> {
  const { input } = schedule;
  const { rows } = await db.query<ScheduleRow>(
    `insert into ductor.schedule as s (tenant_id, schedule_id, shard, slug, title, family_slug, version, spec,
        attributes, input, input_encoding, starts_at, ends_at, overlap, catch_up, catch_up_window_ms, jitter_ms,
        next_slot, due_at)
      values ($1::uuid, $2::uuid, $3, $4, $5, $6, $7, $8::jsonb, $9::jsonb, $10::bytea, $11, $12, $13, $14, $15, $16,
        $17, $18, $19)
      on conflict (tenant_id, slug) do nothing returning ${SCHEDULE_COLUMNS}`,
    [
      ...[schedule.tenantId, schedule.id, schedule.shard, schedule.slug, schedule.title, schedule.familySlug],
      ...[schedule.version, JSON.stringify(schedule.spec), JSON.stringify(schedule.attributes)],
      ...[Buffer.from(input.data), input.encoding, schedule.startsAtUs, schedule.endsAtUs],
      ...[schedule.overlap, schedule.catchUp, schedule.catchUpWindowMs, schedule.jitterMs],
      ...[schedule.nextSlotUs, schedule.dueUs],
    ],
  );
  return rows[0] && toScheduleRecord(rows[0]);
}
