import { prepared, type Queryable } from '../../../store/index.js';
import type { AuditEntry } from '../deed.js';

/**
 * Adds rows from a query, for rooms whose statements change something and say in the same statement who did it.
 *
 * @param query yields, in this order, audit_id, tenant_id, actor_id, actor, method, object_kind, object_id, outcome,
 * reason
 */
export function auditInsert(query: string): string {
  // The clock is asked once a statement. Nothing sorts by the ids but rows of one microsecond.
  return `insert into ductor.audit
    (at, audit_id, tenant_id, actor_id, actor, method, object_kind, object_id, outcome, reason)
  select clock.at, d.* from (select ductor.now_us() as at offset 0) as clock cross join (${query}) as d`;
}

const INSERT = prepared(
  'tenancy_insert_audit',
  auditInsert(
    `select gen_random_uuid(), t.* from
      unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) as t`,
  ),
);

/** Adds rows, in a transaction or as one. */
export async function insertAudit(db: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await db.query(INSERT, [
    entries.map(({ tenantId }) => tenantId),
    entries.map(({ actorId }) => actorId),
    entries.map(({ actor }) => actor),
    entries.map(({ method }) => method),
    entries.map(({ objectKind }) => objectKind),
    entries.map(({ objectId }) => objectId),
    entries.map(({ outcome }) => outcome),
    entries.map(({ reason }) => reason),
  ]);
}
