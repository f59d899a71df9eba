/** A page of a tenant's runs. */
import { prepared, type Prepared, type Queryable, type Row } from '../../store/index.js';
import { HEADER_COLUMNS, headerOf, type HeaderRow } from './header-row.js';
import { statusCode } from './run-status-code.js';
import type { RunPage, RunQuery } from './run-reader.js';

/**
 * The statement for a combination of filters: each has a plan of its own, none has `or $2 is null`. The page is cut
 * inside, so that attributes are gathered for its rows only.
 */
function statementOf(query: RunQuery): Prepared {
  const conditions = ['r.tenant_id = $1::uuid'];
  if (query.cursor !== undefined) {
    conditions.push('r.started_at <= $3::bigint', '(r.started_at < $3::bigint or r.run_id > $4::uuid)');
  }
  if (query.status !== undefined) conditions.push('r.status = $5::smallint');
  if (query.familySlug !== undefined) conditions.push('r.family_slug = $6::text');
  const given = [query.cursor !== undefined, query.status !== undefined, query.familySlug !== undefined];
  return prepared(
    `list_runs_${given.map(Number).join('')}`,
    `with given as (select $3::bigint, $4::uuid, $5::smallint, $6::text)
select ${HEADER_COLUMNS} as header from (
  select r.* from ductor.runs r where ${conditions.join(' and ')}
  order by r.started_at desc, r.run_id limit $2::int) r
order by r.started_at desc, r.run_id`,
  );
}

/** See RunReader.list. */
export async function listRuns(db: Queryable, query: RunQuery): Promise<RunPage> {
  const { rows } = await db.query<Row & { header: HeaderRow }>(statementOf(query), [
    query.tenantId,
    query.limit + 1,
    query.cursor?.startedAtUs ?? null,
    query.cursor?.runId ?? null,
    query.status === undefined ? null : statusCode(query.status),
    query.familySlug ?? null,
  ]);
  const headers = rows.slice(0, query.limit).map((row) => headerOf(row.header));
  const last = headers.at(-1);
  const isMore = rows.length > query.limit && last !== undefined;
  return { headers, next: isMore ? { startedAtUs: last.startedAtUs, runId: last.runId } : null };
}
