/** Tenancy: tenants, API keys, who calls and what a key may do. */
export { isWellFormedKey, newApiKey } from './api-key.js';
export { KEY_TTL_MS } from './authenticate.js';
export { PERMISSIONS, PUBLIC, SCOPES, isScope, permissionOf, type Scope } from './permissions.js';
export type { Principal } from './principal.js';
export { createTenancy, type CreatedKey, type NewKey, type Tenancy, type TenancyOptions } from './tenancy.js';
