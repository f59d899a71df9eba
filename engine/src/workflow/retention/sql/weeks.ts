/** What there is of weeks. */
import type { Queryable, Row } from '../../../store/index.js';
import { WEEKLY_TABLES } from '../week.js';

/** A few descents of the index, however many runs there are. */
const WEEKS_OF_CLOSED = `with recursive w as (
  (select ductor.run_week(r.run_id) as week from ductor.runs r where r.closed_at is not null order by 1 limit 1)
  union all
  select (
    select ductor.run_week(r.run_id) from ductor.runs r
    where r.closed_at is not null and ductor.run_week(r.run_id) > w.week order by 1 limit 1)
  from w where w.week is not null
) select w.week from w where w.week is not null`;

/** Weeks in which closed runs began, earliest first. */
export async function weeksOfClosedRuns(db: Queryable): Promise<readonly number[]> {
  const { rows } = await db.query<Row & { week: number }>(WEEKS_OF_CLOSED);
  return rows.map(({ week }) => week);
}

/** Weeks that have partitions, by table; earliest first. */
export async function weeksWithPartitions(db: Queryable): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows } = await db.query<Row & { parent: string; weeks: number[] }>(
    `select p.relname::text as parent, array_agg(substring(c.relname from '_w(\\d+)$')::int order by 1) as weeks
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    where p.relnamespace = 'ductor'::regnamespace and p.relname = any ($1::text[]) and c.relname ~ '_w\\d+$'
    group by p.relname`,
    [[...WEEKLY_TABLES]],
  );
  return new Map(rows.map(({ parent, weeks }) => [parent, [...weeks].sort((a, b) => a - b)]));
}
