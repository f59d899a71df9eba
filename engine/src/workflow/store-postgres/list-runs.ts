/** A page of a tenant's runs. */
import { prepared, type Prepared, type Queryable, type Row } from '../../store/index.js';
import type { RunStatus } from '../machine/state.js';
import { HEADER_COLUMNS, headerOf, type HeaderRow } from './header-row.js';
import { statusCode } from './run-status-code.js';
import type { RunPage, RunQuery } from './run-reader.js';
import { textArray } from './text-array.js';

/** Attributes beyond the first: each has to be there, too. A count, because a `not exists` would be hashed whole. */
const HAS_THE_REST = `(select count(*) from ductor.run_attribute b
    where b.tenant_id = r.tenant_id and b.run_id = r.run_id and exists (
      select 1 from unnest($11::text[], $12::text[]) as w (name, value)
      where w.name = b.name and w.value = b.value)) = cardinality($11::text[])`;

/**
 * What stands in `from`: the runs by their start, or the attribute asked for by the start of its run. `offset 0` keeps
 * the look-up of the run one by its key, also in a plan that was made for empty tables.
 */
function sourceOf(attributes: number): { readonly from: string; readonly by: string } {
  if (attributes === 0) return { from: 'ductor.runs r', by: 'r' };
  const run = 'select * from ductor.runs r where r.tenant_id = a.tenant_id and r.run_id = a.run_id offset 0';
  return { from: `ductor.run_attribute a cross join lateral (${run}) r`, by: 'a' };
}

const OPEN: ReadonlySet<RunStatus | undefined> = new Set([
  'PENDING',
  'RUNNING',
  'WAITING',
  'PAUSED',
  'PARKED',
  'CANCELLING',
]);

/**
 * What holds of every run in a status, as the partial indexes say it: with it the planner finds few open runs, or few
 * that ended otherwise than COMPLETED, among a million others. See migration 0016.
 */
function isOpen({ status, isOpen: isAsked }: RunQuery): boolean {
  return isAsked === true || OPEN.has(status);
}

function hasEndedOtherwise({ status }: RunQuery): boolean {
  return status !== undefined && status !== 'COMPLETED' && !OPEN.has(status);
}

/**
 * The statement for a combination of filters: each has a plan of its own, none has `or $2 is null`. The page is cut
 * inside, so that attributes are gathered for its rows only.
 */
function statementOf(query: RunQuery): Prepared {
  const attributes = Math.min(2, Object.keys(query.attributes ?? {}).length);
  const { from, by } = sourceOf(attributes);
  const filters: readonly (readonly [boolean, string])[] = [
    [query.cursor !== undefined, `${by}.started_at <= $3::bigint`],
    [query.cursor !== undefined, `(${by}.started_at < $3::bigint or ${by}.run_id > $4::uuid)`],
    [query.status !== undefined, 'r.status = $5::smallint'],
    [query.familySlug !== undefined, 'r.family_slug = $6::text'],
    [query.startedAfterUs !== undefined, `${by}.started_at >= $7::bigint`],
    [query.startedBeforeUs !== undefined, `${by}.started_at < $8::bigint`],
    [attributes > 0, 'a.name = $9::text and a.value = $10::text'],
    [attributes > 1, HAS_THE_REST],
    [query.rootId !== undefined, 'r.root_id = $13::uuid'],
    [query.parentId !== undefined, 'r.parent_id = $14::uuid'],
    [isOpen(query), 'r.closed_at is null'],
    [hasEndedOtherwise(query), 'r.status > 7'],
  ];
  const conditions = filters.flatMap(([isGiven, condition]) => (isGiven ? [condition] : []));
  return prepared(
    `list_runs_${filters.map(([isGiven]) => Number(isGiven)).join('')}`,
    `with given as (select $3::bigint, $4::uuid, $5::smallint, $6::text, $7::bigint, $8::bigint, $9::text, $10::text,
  $11::text[], $12::text[], $13::uuid, $14::uuid)
select ${HEADER_COLUMNS} as header from (
  select r.* from ${from} where ${[`${by}.tenant_id = $1::uuid`, ...conditions].join(' and ')}
  order by ${by}.started_at desc, ${by}.run_id limit $2::int) r
order by r.started_at desc, r.run_id`,
  );
}

/** See RunReader.list. */
export async function listRuns(db: Queryable, query: RunQuery): Promise<RunPage> {
  const [first, ...rest] = Object.entries(query.attributes ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const { rows } = await db.query<Row & { header: HeaderRow }>(statementOf(query), [
    query.tenantId,
    query.limit + 1,
    query.cursor?.startedAtUs ?? null,
    query.cursor?.runId ?? null,
    query.status === undefined ? null : statusCode(query.status),
    query.familySlug ?? null,
    query.startedAfterUs ?? null,
    query.startedBeforeUs ?? null,
    first?.[0] ?? null,
    first?.[1] ?? null,
    textArray(rest.map(([name]) => name)),
    textArray(rest.map(([, value]) => value)),
    query.rootId ?? null,
    query.parentId ?? null,
  ]);
  const headers = rows.slice(0, query.limit).map((row) => headerOf(row.header));
  const last = headers.at(-1);
  const isMore = rows.length > query.limit && last !== undefined;
  return { headers, next: isMore ? { startedAtUs: last.startedAtUs, runId: last.runId } : null };
}
