/** AuditService: what keys of a tenant did. */
import type { AuditEvent, ListAuditEventsRequest, ListAuditEventsResponse } from '../../../gen/ductor/v1/audit.js';
import { OBJECT_KINDS, type AuditRecord, type Tenancy } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { momentCursor } from '../checks/cursor.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import { pageOf } from '../wire/page.js';
import { timestampOf } from '../wire/timestamp.js';

function eventOf(record: AuditRecord): AuditEvent {
  const { id, atUs, actorId, actor, method, objectKind, objectId, outcome, reason } = record;
  return { id, at: timestampOf(atUs), actorId, actor, method, objectKind, objectId, outcome, reason };
}

/** ListAuditEvents. */
export function listAuditEvents(
  tenancy: Pick<Tenancy, 'listAudit'>,
): Unary<ListAuditEventsRequest, ListAuditEventsResponse> {
  return async ({ pagination, objectKind, objectId, actorId }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    checks.text('object_id', objectId, MAX_IDENTIFIER_CHARS);
    if (actorId !== '') checks.uuid('actor_id', actorId);
    const kind = OBJECT_KINDS.find((known) => known === objectKind);
    if (objectKind !== '' && kind === undefined) {
      checks.note('object_kind', objectKind, 'is no kind of object', `use ${OBJECT_KINDS.join(', ')}`);
    }
    checks.done();
    const found = await tenancy.listAudit({
      tenantId,
      limit: limit + 1,
      ...(cursor === '' ? {} : { after: momentCursor(cursor) }),
      ...(kind === undefined ? {} : { objectKind: kind }),
      ...(objectId === '' ? {} : { objectId }),
      ...(actorId === '' ? {} : { actorId }),
    });
    const { page, end } = pageOf(found, limit, (last) => [last.atUs, last.id]);
    return { data: page.map(eventOf), pagination: end };
  };
}
