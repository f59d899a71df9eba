/** Reads semaphores that this transaction has locked. */
import { impossible } from '../../kernel/index.js';
import { prepared, uuidArray, type Queryable, type Row } from '../../store/index.js';
import type { Holder, SemaphoreKey, SemaphoreUsage, Waiter, Want } from '../semaphore/usage.js';
import { keyArrays } from './key-arrays.js';

/** So many of a line are read first; more are where all of these are passed. */
export const LINE_PAGE = 100;

interface WaiterRow {
  readonly run: string;
  readonly path: string;
  readonly ticket: number;
  readonly called: boolean;
  readonly elsewhere: boolean;
  readonly since: number;
  readonly wants: readonly Want[];
}

interface UsageRow extends Row {
  readonly n: number;
  readonly now_us: number;
  readonly next_at: number;
  readonly holders: readonly { readonly limit: number; readonly count: number }[] | null;
  readonly holds: readonly { readonly run: string; readonly path: string; readonly limit: number }[] | null;
  readonly line: readonly WaiterRow[] | null;
  readonly waits: readonly { readonly run: string; readonly path: string }[] | null;
}

const READ = prepared(
  'semaphore_read',
  `select t.n::int as n, ductor.now_us() as now_us, s.next_at,
  (select json_agg(json_build_object('limit', h.limited_to, 'count', h.count)) from (
    select h.limited_to, count(*) as count from ductor.semaphore_hold h
    where h.tenant_id = t.tenant_id and h.key = t.key group by h.limited_to) h) as holders,
  (select json_agg(json_build_object('run', h.run_id, 'path', h.path, 'limit', h.limited_to))
    from unnest($3::uuid[]) as r (run_id) join ductor.semaphore_hold h
      on h.tenant_id = t.tenant_id and h.key = t.key and h.run_id = r.run_id) as holds,
  (select json_agg(json_build_object('run', w.run_id, 'path', w.path, 'ticket', w.ticket, 'called', w.is_called,
      'elsewhere', w.is_elsewhere, 'since', w.since, 'wants', w.wants) order by w.place) from (
    select w.* from ductor.semaphore_waiter w where w.tenant_id = t.tenant_id and w.key = t.key
    order by w.place limit $4::int + 1) w) as line,
  (select json_agg(json_build_object('run', w.run_id, 'path', w.path))
    from unnest($3::uuid[]) as r (run_id) join ductor.semaphore_waiter w
      on w.tenant_id = t.tenant_id and w.key = t.key and w.run_id = r.run_id) as waits
from unnest($1::uuid[], $2::text[]) with ordinality as t (tenant_id, key, n)
join ductor.semaphore s on s.tenant_id = t.tenant_id and s.key = t.key`,
);

function usageOf({ tenantId, key }: SemaphoreKey, row: UsageRow, page: number): SemaphoreUsage {
  const holder = ({ run, path }: { readonly run: string; readonly path: string }): Holder => {
    return { tenantId, runId: run, path };
  };
  const line = (row.line ?? []).map((waiter): Waiter => {
    const { ticket, wants, called: isCalled, elsewhere: isElsewhere, since: sinceUs } = waiter;
    return { ...holder(waiter), ticket, wants, isCalled, isElsewhere, sinceUs };
  });
  return {
    ...{ tenantId, key, nextAtUs: row.next_at, holders: row.holders ?? [] },
    holds: (row.holds ?? []).map((hold) => ({ ...holder(hold), limit: hold.limit })),
    line: line.slice(0, page),
    isLonger: line.length > page,
    waits: (row.waits ?? []).map(holder),
  };
}

/**
 * @param runIds runs whose own holds and places in line are wanted, wherever they stand
 * @param page so many of each line are read
 */
export async function readSemaphores(
  tx: Queryable,
  keys: readonly SemaphoreKey[],
  runIds: readonly string[],
  page: number,
): Promise<{ readonly nowUs: number; readonly usages: readonly SemaphoreUsage[] }> {
  const { rows } = await tx.query<UsageRow>(READ, [...keyArrays(keys), uuidArray(runIds), page]);
  const usages = rows.map((row) => {
    return usageOf(keys[row.n - 1] ?? impossible('semaphore-row', `row ${row.n} of ${keys.length}`), row, page);
  });
  return { nowUs: rows[0]?.now_us ?? 0, usages };
}
