/** Reads large values of runs. */
import { prepared, type Queryable, type Row, uuidArray } from '../../store/index.js';
import type { PayloadKey, StoredPayload } from '../coordinator/ports.js';
import { textArray } from './text-array.js';

/** Bytes of values that one query reads; a single larger one goes alone. */
const QUERY_BYTES = 4 * 1024 * 1024;

/** `offset 0` keeps the planner from turning the look-up into a join of lists. */
const PAYLOADS = prepared(
  'load_payloads',
  `select k.n::int - 1 as n, p.data
  from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality as k (tenant_id, run_id, digest, n)
  cross join lateral (
    select p.data from ductor.payloads p
    where p.tenant_id = k.tenant_id and p.run_id = k.run_id and p.digest = decode(k.digest, 'hex') offset 0) p`,
);

/** Cuts the keys where their values together are too large for one query. */
function* pages(keys: readonly PayloadKey[]): Generator<readonly PayloadKey[], undefined> {
  let page: PayloadKey[] = [];
  let bytes = 0;
  for (const key of keys) {
    if (page.length > 0 && bytes + key.size > QUERY_BYTES) {
      yield page;
      page = [];
      bytes = 0;
    }
    page.push(key);
    bytes += key.size;
  }
  if (page.length > 0) yield page;
}

/** The large values that exist, in any order. Throws database_unavailable. */
export async function loadPayloads(db: Queryable, keys: readonly PayloadKey[]): Promise<readonly StoredPayload[]> {
  const found: StoredPayload[] = [];
  for (const page of pages(keys)) {
    const { rows } = await db.query<Row & { n: number; data: Buffer }>(PAYLOADS, [
      uuidArray(page.map((key) => key.tenantId)),
      uuidArray(page.map((key) => key.runId)),
      textArray(page.map((key) => key.digest)),
    ]);
    for (const { n, data } of rows) {
      const key = page[n];
      if (key !== undefined) found.push({ tenantId: key.tenantId, runId: key.runId, digest: key.digest, data });
    }
  }
  return found;
}
