/** The audit trail: who changed what. */
export { auditedMethod, isAuditMissing, OBJECT_KINDS, type AuditedMethod, type ObjectKind } from './audited-methods.js';
export { auditTrail, type AuditTrail } from './audit-trail.js';
export { deedOf, type AuditEntry, type Deed } from './deed.js';
export { leavesRow } from './leaves-row.js';
export { auditInsert, insertAudit } from './sql/insert-audit.js';
export { listAudit, type AuditCursor, type AuditQuery, type AuditRecord } from './sql/list-audit.js';
