/** Locks semaphores, in one order everywhere. */
import { prepared, type Queryable } from '../../store/index.js';
import type { SemaphoreKey } from '../semaphore/usage.js';
import { keyArrays } from './key-arrays.js';

const ENSURE = prepared(
  'semaphore_ensure',
  `insert into ductor.semaphore (tenant_id, key)
  select t.tenant_id, t.key from unnest($1::uuid[], $2::text[]) with ordinality as t (tenant_id, key, n) order by t.n
  on conflict do nothing`,
);

/** Makes the rows that are missing, in a transaction of their own: what is to be locked must be there. */
export async function ensureSemaphores(db: Queryable, keys: readonly SemaphoreKey[]): Promise<void> {
  if (keys.length > 0) await db.query(ENSURE, keyArrays(keys));
}

/**
 * A table expression that locks semaphores in the order of the arrays; one row for each that is there. Counting happens
 * in a later statement: in this one it would be done on what was before the wait for the locks, and overshoot.
 *
 * @param condition decides whether anything is locked at all
 */
export function lockSemaphoresSql(tenants: string, keys: string, condition: string): string {
  return `select s.key from unnest(${tenants}::uuid[], ${keys}::text[]) as t (tenant_id, key)
  cross join lateral (
    select s.key from ductor.semaphore s where s.tenant_id = t.tenant_id and s.key = t.key and ${condition}
    for update) s`;
}
