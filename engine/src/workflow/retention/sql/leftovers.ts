/** Rows of removed runs in the weekly tables. */
import { type Queryable, type Row, uuidArray } from '../../../store/index.js';
import { partitionOf, type WeeklyTable } from '../week.js';

/** A removed run. */
export interface Leftover {
  readonly tenantId: string;
  readonly runId: string;
  readonly week: number;
}

/** Some removed runs with rows left, at most `limit`, all of one week. */
export async function findLeftovers(db: Queryable, limit: number): Promise<readonly Leftover[]> {
  const { rows } = await db.query<Row & { tenant_id: string; run_id: string; week: number }>(
    'select l.tenant_id, l.run_id, ductor.run_week(l.run_id) as week from ductor.run_leftover l limit $1::int',
    [limit],
  );
  const week = rows[0]?.week;
  return rows
    .filter((row) => row.week === week)
    .map((row) => ({ tenantId: row.tenant_id, runId: row.run_id, week: row.week }));
}

/** The table in which rows of a week stand: its partition, or the one for weeks that have none. */
async function tableOf(db: Queryable, table: WeeklyTable, week: number): Promise<string> {
  const name = `ductor.${partitionOf(table, week)}`;
  const { rows } = await db.query<Row & { is_there: boolean }>('select to_regclass($1::text) is not null as is_there', [
    name,
  ]);
  return rows[0]?.is_there === true ? name : `ductor.${table}_default`;
}

/** Deletes rows of removed runs of one week, at most `limit`. Returns how many. */
export async function deleteRows(
  db: Queryable,
  table: WeeklyTable,
  runs: readonly Leftover[],
  limit: number,
): Promise<number> {
  const name = await tableOf(db, table, runs[0]?.week ?? 0);
  const { rowCount } = await db.query(
    `delete from ${name} where ctid = any (array(
      select j.place from unnest($1::uuid[], $2::uuid[]) as t (tenant_id, run_id)
      cross join lateral (
        select j.ctid as place from ${name} j
        where j.tenant_id = t.tenant_id and j.run_id = t.run_id limit $3::int) j
      limit $3::int))`,
    [uuidArray(runs.map(({ tenantId }) => tenantId)), uuidArray(runs.map(({ runId }) => runId)), limit],
  );
  return rowCount;
}

/** Forgets removed runs of which nothing is left. */
export async function forgetLeftovers(db: Queryable, runs: readonly Leftover[]): Promise<void> {
  await db.query(
    `delete from ductor.run_leftover l using unnest($1::uuid[], $2::uuid[]) as t (tenant_id, run_id)
      where l.tenant_id = t.tenant_id and l.run_id = t.run_id`,
    [uuidArray(runs.map(({ tenantId }) => tenantId)), uuidArray(runs.map(({ runId }) => runId))],
  );
}
