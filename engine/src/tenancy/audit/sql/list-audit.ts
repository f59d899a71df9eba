import type { Queryable, Row } from '../../../store/index.js';
import type { ObjectKind } from '../audited-methods.js';
import type { AuditEntry } from '../deed.js';

/** A row that is there. */
export interface AuditRecord extends AuditEntry {
  readonly id: string;
  /** Microseconds since 1970. */
  readonly atUs: number;
}

/** Where a page of the trail ended. */
export interface AuditCursor {
  readonly atUs: number;
  readonly id: string;
}

/** A page of a tenant's trail, newest first. */
export interface AuditQuery {
  readonly tenantId: string;
  readonly limit: number;
  /** Absent: from the newest. */
  readonly after?: AuditCursor;
  readonly objectKind?: ObjectKind;
  readonly objectId?: string;
  readonly actorId?: string;
}

interface AuditRow extends Row {
  readonly audit_id: string;
  readonly at: number;
  readonly actor_id: string;
  readonly actor: string;
  readonly method: string;
  readonly object_kind: ObjectKind;
  readonly object_id: string;
  readonly outcome: string;
  readonly reason: string;
}

/** Rows of a tenant before a cursor, newest first, at most `limit`. */
export async function listAudit(db: Queryable, query: AuditQuery): Promise<readonly AuditRecord[]> {
  const values: unknown[] = [query.tenantId, query.limit];
  const conditions = ['tenant_id = $1::uuid'];
  const add = (condition: string, value: unknown): void => {
    values.push(value);
    conditions.push(condition.replace('?', `$${values.length}`));
  };
  if (query.after !== undefined) {
    values.push(query.after.atUs, query.after.id);
    conditions.push('(at, audit_id) < ($3::bigint, $4::uuid)');
  }
  if (query.objectKind !== undefined) add('object_kind = ?::text', query.objectKind);
  if (query.objectId !== undefined) add('object_id = ?::text', query.objectId);
  if (query.actorId !== undefined) add('actor_id = ?::uuid', query.actorId);
  const { rows } = await db.query<AuditRow>(
    `select audit_id::text, at, actor_id::text, actor, method, object_kind, object_id, outcome, reason
      from ductor.audit where ${conditions.join(' and ')} order by at desc, audit_id desc limit $2`,
    values,
  );
  return rows.map((row) => ({
    id: row.audit_id,
    atUs: row.at,
    tenantId: query.tenantId,
    actorId: row.actor_id,
    actor: row.actor,
    method: row.method,
    objectKind: row.object_kind,
    objectId: row.object_id,
    outcome: row.outcome,
    reason: row.reason,
  }));
}
