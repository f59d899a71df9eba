/** Writes what was decided of semaphores that this transaction has locked. */
import { booleanArray, integerArray, prepared, uuidArray, type Queryable } from '../../store/index.js';
import type { Holder, SemaphoreChanges } from '../semaphore/usage.js';
import { keyArrays, texts } from './key-arrays.js';

const NAMED = 'tenant_id, key, run_id, path';
const named = (first: number): string =>
  `$${first}::uuid[], $${first + 1}::text[], $${first + 2}::uuid[], $${first + 3}::text[]`;
const isSame = (table: string): string =>
  `${table}.tenant_id = t.tenant_id and ${table}.key = t.key and ${table}.run_id = t.run_id and ${table}.path = t.path`;

const WRITE = prepared(
  'semaphore_write',
  `with changed as (
  update ductor.semaphore s set limited_to = t.limited_to, held = t.held, next_at = t.next_at
  from unnest($1::uuid[], $2::text[], $3::int[], $4::int[], $5::bigint[])
    as t (tenant_id, key, limited_to, held, next_at)
  where s.tenant_id = t.tenant_id and s.key = t.key
), released as (
  delete from ductor.semaphore_hold h using unnest(${named(6)}) as t (${NAMED}) where ${isSame('h')}
), gone as (
  delete from ductor.semaphore_waiter w using unnest(${named(10)}) as t (${NAMED}) where ${isSame('w')}
), called as (
  update ductor.semaphore_waiter w set is_called = t.is_called, is_elsewhere = t.is_elsewhere
  from unnest(${named(14)}, $18::boolean[], $33::boolean[]) as t (${NAMED}, is_called, is_elsewhere)
  where ${isSame('w')}
), held as (
  insert into ductor.semaphore_hold (${NAMED}, limited_to, since)
  select t.* from unnest(${named(19)}, $23::int[], $24::bigint[]) as t (${NAMED}, limited_to, since)
)
insert into ductor.semaphore_waiter (${NAMED}, ticket, is_called, since, wants, is_elsewhere)
select t.tenant_id, t.key, t.run_id, t.path, t.ticket, t.is_called, t.since, t.wants::jsonb, t.is_elsewhere
from unnest(${named(25)}, $29::int[], $30::boolean[], $31::bigint[], $32::text[], $34::boolean[]) with ordinality
  as t (${NAMED}, ticket, is_called, since, wants, is_elsewhere, n)
order by t.n`,
);

function names(holders: readonly (Holder & { readonly key: string })[]): readonly string[] {
  return [...keyArrays(holders), uuidArray(holders.map(({ runId }) => runId)), texts(holders.map(({ path }) => path))];
}

/** One statement for all changes. */
export async function writeSemaphores(tx: Queryable, changes: SemaphoreChanges): Promise<void> {
  const { semaphores, holds, releases, waits, leaves, marks } = changes;
  if (semaphores.length === 0) return;
  await tx.query(WRITE, [
    ...keyArrays(semaphores),
    integerArray(semaphores.map(({ limit }) => limit)),
    integerArray(semaphores.map(({ held }) => held)),
    integerArray(semaphores.map(({ nextAtUs }) => nextAtUs)),
    ...names(releases),
    ...names(leaves),
    ...names(marks),
    booleanArray(marks.map(({ isCalled }) => isCalled)),
    ...names(holds),
    integerArray(holds.map(({ limit }) => limit)),
    integerArray(holds.map(({ sinceUs }) => sinceUs)),
    ...names(waits),
    integerArray(waits.map(({ ticket }) => ticket)),
    booleanArray(waits.map(({ isCalled }) => isCalled)),
    integerArray(waits.map(({ sinceUs }) => sinceUs)),
    texts(waits.map(({ wants }) => JSON.stringify(wants))),
    booleanArray(marks.map(({ isElsewhere }) => isElsewhere)),
    booleanArray(waits.map(({ isElsewhere }) => isElsewhere)),
  ]);
}
