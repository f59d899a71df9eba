/** Removes expired runs of a week: everything but what stands in the weekly tables. */
import type { Queryable, Row } from '../../../store/index.js';
import { EXPIRED, PAGE_END, expiredPage, expiredValues, type ExpiredPage, type ExpiredQuery } from './expired.js';

/** Of these runs, by `gone`. */
const of = (table: string): string => `delete from ductor.${table} t using gone
  where t.tenant_id = gone.tenant_id and t.run_id = gone.run_id`;

/** The runs go first: from the commit on nobody finds them, whatever of them is left. */
const REMOVE = `with ${EXPIRED}, gone as (
  delete from ductor.runs r where r.ctid = any (array(select g.place from g)) and r.closed_at is not null
  returning r.tenant_id, r.run_id
), attributes as (${of('run_attribute')}), snapshots as (${of('run_snapshot')}), keys as (${of('run_start_key')}),
left_over as (
  insert into ductor.run_leftover (tenant_id, run_id)
  select gone.tenant_id, gone.run_id from gone where $6::boolean
)
select ${PAGE_END}, (select count(*)::int from gone) as gone`;

interface RemovedRow extends Row {
  readonly seen: number;
  readonly found: number;
  readonly due: number | null;
  readonly run_id: string | null;
  readonly gone: number;
}

/** A page of removed runs. */
export interface RemovedPage extends ExpiredPage {
  /** Runs that are gone. */
  readonly gone: number;
}

/**
 * Removes a page of them.
 *
 * @param keepsWeek whether the partitions of the week stay: then the rows of the runs in them are noted as left over
 */
export async function removeExpired(db: Queryable, query: ExpiredQuery, keepsWeek: boolean): Promise<RemovedPage> {
  const { rows } = await db.query<RemovedRow>(REMOVE, [...expiredValues(query), keepsWeek]);
  const row = rows[0] ?? { seen: 0, found: 0, due: null, run_id: null, gone: 0 };
  return { ...expiredPage(row, query.limit), gone: row.gone };
}
