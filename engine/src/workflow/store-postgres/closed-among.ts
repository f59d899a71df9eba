/** Which of some runs are closed, and which are open. */
import { type Prepared, type Queryable, type Row, prepared, uuidArray } from '../../store/index.js';
import type { RunKey } from '../coordinator/ports.js';
import { statusCode } from './run-status-code.js';

/** The runs of two arrays that are there and meet a condition, by their places. */
const among = (condition: string): string => `select k.n::int - 1 as n
  from unnest($1::uuid[], $2::uuid[]) with ordinality as k (tenant_id, run_id, n)
  cross join lateral (
    select 1 from ductor.runs r
    where r.tenant_id = k.tenant_id and r.run_id = k.run_id and ${condition} offset 0) r`;

const CLOSED_AMONG = prepared('closed_among', among('r.closed_at is not null'));
/** A run that was continued is open as long as the last run of its chain is. */
const IS_OPEN = `(r.closed_at is null or (r.status = ${statusCode('CONTINUED')} and exists (
      select 1 from ductor.runs c
      where c.tenant_id = r.tenant_id and c.chain_id = coalesce(r.chain_id, r.run_id) and c.closed_at is null)))`;
const OPEN_AMONG = prepared('open_among', among(IS_OPEN));

async function ask(db: Queryable, statement: Prepared, keys: readonly RunKey[]): Promise<readonly RunKey[]> {
  const { rows } = await db.query<Row & { n: number }>(statement, [
    uuidArray(keys.map((key) => key.tenantId)),
    uuidArray(keys.map((key) => key.runId)),
  ]);
  return rows.flatMap((row) => keys[row.n] ?? []);
}

/** See RunReader.closedAmong. */
export function closedAmong(db: Queryable, keys: readonly RunKey[]): Promise<readonly RunKey[]> {
  return ask(db, CLOSED_AMONG, keys);
}

/** See RunReader.openAmong. */
export function openAmong(db: Queryable, keys: readonly RunKey[]): Promise<readonly RunKey[]> {
  return ask(db, OPEN_AMONG, keys);
}
