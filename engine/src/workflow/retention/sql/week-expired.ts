/** Whether nothing of a week has to be kept any more. */
import type { Queryable, Row } from '../../../store/index.js';

const CLOSED = 'r.closed_at is not null and ductor.run_week(r.run_id) = $1::int';
const DUE = 'ductor.removal_due(r.closed_at, r.retention_us)';

/** Cheap to expensive: what is kept longest, all whose time may not be over, all that is open. */
const KEPT = [
  `select r.closed_at + r.retention_us > ductor.now_us() as is_kept from ductor.runs r
    where ${CLOSED} order by ${DUE} desc limit 1`,
  `select true as is_kept from ductor.runs r
    where ${CLOSED} and ${DUE} > ductor.now_us() and r.closed_at + r.retention_us > ductor.now_us() limit 1`,
  `select true as is_kept from ductor.runs r
    where r.closed_at is null and ductor.run_week(r.run_id) = $1::int limit 1`,
];

/** Whether all runs of the week are closed and expired; also when there are none. */
export async function isWeekExpired(db: Queryable, week: number): Promise<boolean> {
  for (const statement of KEPT) {
    const { rows } = await db.query<Row & { is_kept: boolean }>(statement, [week]);
    if (rows[0]?.is_kept === true) return false;
  }
  return true;
}
