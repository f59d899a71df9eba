import type { Queryable, Row } from '../../store/index.js';
import type { ScheduleRecord } from '../schedule.js';
import { SCHEDULE_COLUMNS, toScheduleRecord, type ScheduleRow } from './schedule-row.js';

/** Schedules of a tenant after a slug, in order of slugs, at most `limit`. */
export async function listSchedules(
  db: Queryable,
  tenantId: string,
  afterSlug: string,
  limit: number,
): Promise<readonly ScheduleRecord[]> {
  const { rows } = await db.query<ScheduleRow>(
    `select ${SCHEDULE_COLUMNS} from ductor.schedule s
      where s.tenant_id = $1::uuid and s.slug > $2 order by s.slug limit $3`,
    [tenantId, afterSlug, limit],
  );
  return rows.map(toScheduleRecord);
}

/** How many schedules a tenant has, counted up to `limit`. */
export async function countSchedules(db: Queryable, tenantId: string, limit: number): Promise<number> {
  const { rows } = await db.query<Row & { count: number }>(
    `select count(*) as count from (
      select 1 from ductor.schedule s where s.tenant_id = $1::uuid limit $2) as counted`,
    [tenantId, limit],
  );
  return rows[0]?.count ?? 0;
}
