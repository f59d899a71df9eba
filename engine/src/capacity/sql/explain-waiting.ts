/** Why somebody waits for room: for people. */
import { prepared, type Queryable, type Row } from '../../store/index.js';
import { keyOf, type Want } from '../semaphore/usage.js';
import { texts } from './key-arrays.js';

/** A key that somebody waits for. */
export interface WaitingFor {
  /** As the workflow computed it. */
  readonly key: string;
  readonly limit: number;
  readonly held: number;
  /** From 1; 0: it does not stand in line any more. */
  readonly place: number;
  /** The first ones, at most 10. */
  readonly holders: readonly { readonly runId: string; readonly path: string; readonly sinceUs: number }[];
}

interface ExplainRow extends Row {
  readonly n: number;
  readonly held: number;
  readonly limited_to: number;
  readonly place: number;
  readonly holders: readonly { readonly runId: string; readonly path: string; readonly sinceUs: number }[] | null;
}

const EXPLAIN = prepared(
  'semaphore_explain',
  `select t.n::int as n, coalesce(s.held, 0) as held, coalesce(s.limited_to, 0) as limited_to,
  (select count(*)::int from ductor.semaphore_waiter w where w.tenant_id = $1::uuid and w.key = t.key and w.place <= (
    select m.place from ductor.semaphore_waiter m
    where m.tenant_id = $1::uuid and m.key = t.key and m.run_id = $3::uuid and m.path = $4::text)) as place,
  (select json_agg(json_build_object('runId', h.run_id, 'path', h.path, 'sinceUs', h.since) order by h.since) from (
    select h.* from ductor.semaphore_hold h where h.tenant_id = $1::uuid and h.key = t.key
    order by h.since limit 10) h) as holders
from unnest($2::text[]) with ordinality as t (key, n)
left join ductor.semaphore s on s.tenant_id = $1::uuid and s.key = t.key
order by t.n`,
);

/** What a step of a run, or with an empty path the run itself, waits for; keys of rates are left out. */
export async function explainWaiting(
  db: Queryable,
  who: { readonly tenantId: string; readonly runId: string; readonly path: string },
  wants: readonly Want[],
): Promise<readonly WaitingFor[]> {
  const rooms = wants.filter(({ kind }) => kind === 'concurrency');
  if (rooms.length === 0) return [];
  const { rows } = await db.query<ExplainRow>(EXPLAIN, [who.tenantId, texts(rooms.map(keyOf)), who.runId, who.path]);
  return rows.flatMap(({ n, held, limited_to: least, place, holders }) => {
    const want = rooms[n - 1];
    if (want === undefined) return [];
    const limit = least === 0 ? want.limit : Math.min(least, want.limit);
    return [{ key: want.key, limit, held, place, holders: holders ?? [] }];
  });
}
