/** Earlier starts by their idempotency keys. */
import { type Queryable, type Row, prepared, uuidArray } from '../../store/index.js';
import type { ExistingStart } from '../coordinator/ports.js';
import { textArray } from './text-array.js';

/** Names a start key. */
export interface StartKeyRef {
  readonly tenantId: string;
  readonly familySlug: string;
  readonly key: string;
}

const FIND_STARTS = prepared(
  'find_starts',
  `select t.n::int - 1 as n, k.run_id, k.version, k.fingerprint
  from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as t (tenant_id, family_slug, key, n)
  cross join lateral (
    select k.run_id, k.version, k.fingerprint from ductor.run_start_key k
    where k.tenant_id = t.tenant_id and k.family_slug = t.family_slug and k.key = t.key
      and k.expires_at > ductor.now_us() offset 0) k`,
);

/** See RunStore.findStarts. */
export async function findStarts(
  db: Queryable,
  keys: readonly StartKeyRef[],
): Promise<readonly (ExistingStart | undefined)[]> {
  const { rows } = await db.query<Row & { n: number; run_id: string; version: number; fingerprint: Buffer }>(
    FIND_STARTS,
    [
      uuidArray(keys.map((key) => key.tenantId)),
      textArray(keys.map((key) => key.familySlug)),
      textArray(keys.map((key) => key.key)),
    ],
  );
  const found = new Map(rows.map((row) => [row.n, row]));
  return keys.map((_, n) => {
    const row = found.get(n);
    return row && { runId: row.run_id, version: row.version, fingerprint: row.fingerprint };
  });
}
