/**
 * The expired runs of a week as a table expression, in the order in which they are due.
 *
 * A run stays as long as anybody of its family or of a chain it belongs to is open: what is open may still be asked
 * where it came from. $1 week, $2 due until (microseconds), $3 and $4 where the page before ended, $5 most runs.
 */
export const EXPIRED = `c as materialized (
  select r.ctid as place, r.tenant_id, r.run_id, coalesce(r.root_id, r.run_id) as root_id,
    ductor.removal_due(r.closed_at, r.retention_us) as due
  from ductor.runs r
  where r.closed_at is not null and ductor.run_week(r.run_id) = $1::int
    and ductor.removal_due(r.closed_at, r.retention_us) <= $2::bigint
    and (ductor.removal_due(r.closed_at, r.retention_us), r.run_id) > ($3::bigint, $4::uuid)
  order by ductor.removal_due(r.closed_at, r.retention_us), r.run_id limit $5::int
), o as materialized (
  select t.tenant_id, t.root_id, exists (
      select 1 from ductor.runs m where m.tenant_id = t.tenant_id and m.root_id = t.root_id and m.closed_at is null)
    or coalesce((
      select m.closed_at is null or coalesce((
        select l.closed_at is null from ductor.runs l
        where l.tenant_id = m.tenant_id and l.chain_id = coalesce(m.chain_id, m.run_id)
        order by l.chain_no desc limit 1), false)
      from ductor.runs m where m.tenant_id = t.tenant_id and m.run_id = t.root_id), false) as is_open
  from (select distinct c.tenant_id, c.root_id from c) t
), g as materialized (
  select c.place, c.tenant_id, c.run_id from c
  join o on o.tenant_id = c.tenant_id and o.root_id = c.root_id and not o.is_open
)`;

/** The page's counts, and where the next one begins. */
export const PAGE_END = `(select count(*)::int from c) as seen, (select count(*)::int from g) as found,
  (select max(c.due) from c) as due, (select c.run_id from c order by c.due desc, c.run_id desc limit 1) as run_id`;

/** Where a page begins: behind this run. */
export interface ExpiredCursor {
  /** When it was due, microseconds. */
  readonly due: number;
  readonly runId: string;
}

/** Before all runs. */
export const FIRST: ExpiredCursor = { due: -1, runId: '00000000-0000-0000-0000-000000000000' };

/** Which runs of a week. */
export interface ExpiredQuery {
  readonly week: number;
  /** Due until, microseconds. */
  readonly dueUs: number;
  readonly after: ExpiredCursor;
  /** Most runs of the page. */
  readonly limit: number;
}

/** The parameters of EXPIRED. */
export function expiredValues({ week, dueUs, after, limit }: ExpiredQuery): readonly unknown[] {
  return [week, dueUs, after.due, after.runId, limit];
}

/** What a page came to. */
export interface ExpiredPage {
  /** Runs that were looked at. */
  readonly seen: number;
  /** Those of them with nobody open in their family and chain. */
  readonly found: number;
  /** Where the next page begins; null: this was the last one. */
  readonly next: ExpiredCursor | null;
}

/** PAGE_END, read. */
export function expiredPage(
  row: { readonly seen: number; readonly found: number; readonly due: number | null; readonly run_id: string | null },
  limit: number,
): ExpiredPage {
  const { seen, found, due, run_id: runId } = row;
  return { seen, found, next: seen < limit || due === null || runId === null ? null : { due, runId } };
}
