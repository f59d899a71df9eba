import type { Queryable } from '../../store/index.js';
import type { ScheduleRecord } from '../schedule.js';
import { SCHEDULE_COLUMNS, toScheduleRecord, type ScheduleRow } from './schedule-row.js';

/** How a schedule is named: by one of the two. */
export interface ScheduleKey {
  readonly tenantId: string;
  readonly id: string | null;
  readonly slug: string | null;
}

const text = (key: ScheduleKey, lock: string): string =>
  `select ${SCHEDULE_COLUMNS} from ductor.schedule s where s.tenant_id = $1::uuid and
    ${key.id === null ? 's.slug = $2::text' : 's.schedule_id = $2::uuid'}${lock}`;

async function find(db: Queryable, key: ScheduleKey, lock: string): Promise<ScheduleRecord | undefined> {
  const { rows } = await db.query<ScheduleRow>(text(key, lock), [key.tenantId, key.id ?? key.slug]);
  return rows[0] && toScheduleRecord(rows[0]);
}

/** A schedule; undefined when there is none. */
export function findSchedule(db: Queryable, key: ScheduleKey): Promise<ScheduleRecord | undefined> {
  return find(db, key, '');
}

/** The same, locked until the transaction ends. */
export function lockSchedule(tx: Queryable, key: ScheduleKey): Promise<ScheduleRecord | undefined> {
  return find(tx, key, ' for update');
}
