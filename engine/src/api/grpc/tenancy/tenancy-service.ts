/** TenancyService: tenants for operators, keys for each tenant. */
import { parseDurationMs } from '../../../kernel/index.js';
import {
  TenancyServiceService,
  type CreateApiKeyRequest,
  type CreateApiKeyResponse,
  type CreateTenantRequest,
  type CreateTenantResponse,
  type ListApiKeysRequest,
  type ListApiKeysResponse,
  type ListTenantsRequest,
  type ListTenantsResponse,
  type RevokeApiKeyRequest,
  type RevokeApiKeyResponse,
} from '../../../gen/ductor/v1/tenancy.js';
import {
  checkGrant,
  deedOf,
  isScope,
  isTenantSlug,
  SCOPES,
  TENANT_SCOPES,
  type Scope,
  type Tenancy,
} from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { badCursor, decodeCursor } from '../checks/cursor.js';
import { checkRetention } from '../checks/check-retention.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import { apiKeyOf, newApiKeyOf, tenantOf } from '../wire/api-key.js';
import { pageOf } from '../wire/page.js';

const MAX_REASON_CHARS = 1_024;
const MAX_EXPIRY_MS = 3_650 * 86_400_000;
const FIRST_KEY_NAME = 'admin';
const { createTenant: CREATE_TENANT, createApiKey: CREATE_KEY, revokeApiKey: REVOKE_KEY } = TenancyServiceService;

/** The scopes of a request; what is none is noted. */
function scopesOf(checks: FieldChecks, scopes: readonly string[]): readonly Scope[] {
  checks.count('scopes', scopes.length, 0, SCOPES.length);
  for (const [index, text] of scopes.slice(0, SCOPES.length).entries()) {
    if (!isScope(text)) checks.note(`scopes[${index}]`, text, 'is no scope', `use ${SCOPES.join(', ')}`);
  }
  return scopes.filter(isScope);
}

function expiryOf(checks: FieldChecks, expiresIn: string): { readonly expiresInMs?: number } {
  if (expiresIn === '') return {};
  const expiresInMs = parseDurationMs(expiresIn);
  if (expiresInMs !== undefined && expiresInMs > 0 && expiresInMs <= MAX_EXPIRY_MS) return { expiresInMs };
  checks.note('expires_in', expiresIn, 'is no duration from "1ms" to "3650d"', 'send a duration, for example "90d"');
  return {};
}

function checkSlug(checks: FieldChecks, slug: string): void {
  if (!isTenantSlug(slug)) {
    checks.note('slug', slug, 'is no slug', 'use 1 to 63 lower case letters, digits and hyphens, no hyphen at an end');
  }
}

/** CreateTenant. */
export function createTenant(tenancy: Tenancy): Unary<CreateTenantRequest, CreateTenantResponse> {
  return async ({ slug, keyName, scopes, retention }, principal) => {
    const checks = new FieldChecks();
    checkSlug(checks, slug);
    checks.text('key_name', keyName, MAX_IDENTIFIER_CHARS);
    const asked = scopesOf(checks, scopes);
    checkRetention(checks, retention);
    checks.done();
    const retentionMs = parseDurationMs(retention) ?? null;
    const granted = scopes.length === 0 ? TENANT_SCOPES.filter((scope) => principal.scopes.has(scope)) : asked;
    // An operator's key without any other scope has nothing to hand on: it says so instead of making a useless key.
    checkGrant(principal, granted.length === 0 ? TENANT_SCOPES : granted, true);
    const made = await tenancy.createTenant(
      { slug, retentionMs, firstKey: { name: keyName || FIRST_KEY_NAME, scopes: granted } },
      { ...deedOf(principal, CREATE_TENANT.path), tenantId: principal.tenantId },
    );
    return { data: tenantOf(made.tenant), firstKey: newApiKeyOf(made.firstKey) };
  };
}

/** ListTenants. A cursor names the last slug of its page. */
export function listTenants(tenancy: Tenancy): Unary<ListTenantsRequest, ListTenantsResponse> {
  return async ({ pagination }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    checks.done();
    const [after = ''] = cursor === '' ? [''] : decodeCursor(cursor, 1);
    if (cursor !== '' && !isTenantSlug(after)) throw badCursor(cursor);
    const found = await tenancy.listTenants(after, limit + 1);
    const { page, end } = pageOf(found, limit, (last) => [last.slug]);
    return { data: page.map(tenantOf), pagination: end };
  };
}

/** CreateApiKey. */
export function createApiKey(tenancy: Tenancy): Unary<CreateApiKeyRequest, CreateApiKeyResponse> {
  return async ({ name, scopes, expiresIn }, principal) => {
    const checks = new FieldChecks();
    checks.required('name', name);
    if (scopes.length === 0) checks.note('scopes', '', 'is empty', `name at least one of ${SCOPES.join(', ')}`);
    const granted = scopesOf(checks, scopes);
    const expiry = expiryOf(checks, expiresIn);
    checks.done();
    checkGrant(principal, granted);
    const key = { tenantId: principal.tenantId, name, scopes: granted, ...expiry };
    return { data: newApiKeyOf(await tenancy.createKey(key, deedOf(principal, CREATE_KEY.path))) };
  };
}

/** ListApiKeys. A cursor names the last key of its page. */
export function listApiKeys(tenancy: Tenancy): Unary<ListApiKeysRequest, ListApiKeysResponse> {
  return async ({ pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    checks.done();
    const [before] = cursor === '' ? [undefined] : decodeCursor(cursor, 1);
    if (before !== undefined && !new FieldChecks().uuid('pagination.cursor', before)) throw badCursor(cursor);
    const found = await tenancy.listKeys(tenantId, before ?? null, limit + 1);
    const { page, end } = pageOf(found, limit, (last) => [last.id]);
    return { data: page.map(apiKeyOf), pagination: end };
  };
}

/** RevokeApiKey. */
export function revokeApiKey(tenancy: Tenancy): Unary<RevokeApiKeyRequest, RevokeApiKeyResponse> {
  return async ({ keyId, reason }, principal) => {
    const checks = new FieldChecks();
    checks.uuid('key_id', keyId);
    checks.text('reason', reason, MAX_REASON_CHARS);
    checks.done();
    const deed = deedOf(principal, REVOKE_KEY.path, reason);
    return { data: apiKeyOf(await tenancy.revokeKey(principal.tenantId, keyId, deed)) };
  };
}
