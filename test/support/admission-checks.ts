/** What has to hold of a database in which an AdmissionWorld works. */
import type { Database, Row } from '../../engine/src/store/index.js';
import { findCapacityDefects } from '../../engine/src/workflow/index.js';

/** Recipients of the one pool: narrow ones, one whose day is bounded too, and one that only its day bounds. */
export function capacitiesFor(operations: number): readonly object[] {
  return [
    { max_concurrent: 1, daily_limit: 0 },
    { max_concurrent: 2, daily_limit: 0 },
    { max_concurrent: 3, daily_limit: 0 },
    { max_concurrent: 4, daily_limit: operations },
    { max_concurrent: 0, daily_limit: 60 },
  ];
}

/** What the triggers saw that must never be committed; each thing once. */
export async function violations(db: Database): Promise<readonly string[]> {
  const { rows } = await db.query<Row & { what: string }>('select distinct what from ductor.test_violation');
  return rows.map(({ what }) => what);
}

/** Where accounts, reservations and slates say different things, in one snapshot each. */
export async function disagreements(db: Database): Promise<readonly string[]> {
  const partial = await db.query(
    `select 1 from ductor.capacity_reservation group by tenant_id, root_id, chain_id, digest
      having count(*) <> max(place) + 1`,
  );
  const kinds = (await findCapacityDefects(db)).map(({ kind }) => kind);
  return [...kinds, ...partial.rows.map(() => 'a part of a slate')];
}

/** Rows that a tenant has left in the tables of reservations and families. */
export async function leftovers(db: Database, tenantId: string): Promise<number> {
  const { rows } = await db.query<Row & { left: number }>(
    `select ((select count(*) from ductor.capacity_reservation where tenant_id = $1::uuid)
      + (select count(*) from ductor.capacity_family where tenant_id = $1::uuid))::integer as left`,
    [tenantId],
  );
  return rows[0]?.left ?? 0;
}

/** Deadlocks in this database so far. */
export async function deadlocks(db: Database): Promise<number> {
  const { rows } = await db.query<Row & { deadlocks: number }>(
    'select deadlocks::integer as deadlocks from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.deadlocks ?? 0;
}
