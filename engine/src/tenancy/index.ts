/** Tenancy: tenants, API keys, who calls, what a key may do, and what was done. */
export { isWellFormedKey, newApiKey } from './api-key.js';
export {
  auditedMethod,
  auditInsert,
  deedOf,
  insertAudit,
  isAuditMissing,
  leavesRow,
  OBJECT_KINDS,
  type AuditCursor,
  type AuditEntry,
  type AuditRecord,
  type AuditTrail,
  type Deed,
  type ObjectKind,
} from './audit/index.js';
export { KEY_TTL_MS } from './authenticate.js';
export { checkGrant, type CreatedKey, type NewKey } from './keys.js';
export {
  isScope,
  OPERATOR_SCOPE,
  PERMISSIONS,
  permissionOf,
  PUBLIC,
  SCOPES,
  TENANT_SCOPES,
  type Scope,
} from './permissions.js';
export { actorText, type Principal } from './principal.js';
export type { KeyRecord } from './sql/key-record.js';
export type { TenantRecord } from './sql/tenants.js';
export { createTenancy, type Tenancy, type TenancyOptions } from './tenancy.js';
export { isTenantSlug } from './tenants.js';
