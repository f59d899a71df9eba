/** Tenants and keys as the contract shows them. */
import type { ApiKey, NewApiKey, Tenant } from '../../../gen/ductor/v1/tenancy.js';
import { formatDurationMs } from '../../../kernel/index.js';
import type { CreatedKey, KeyRecord, TenantRecord } from '../../../tenancy/index.js';
import { timestampOf } from './timestamp.js';

const maybe = (us: number | null): ApiKey['createdAt'] => (us === null ? undefined : timestampOf(us));

/** The message ductor.v1.ApiKey. */
export function apiKeyOf(record: KeyRecord): ApiKey {
  return {
    id: record.id,
    name: record.name,
    scopes: [...record.scopes],
    createdAt: timestampOf(record.createdAtUs),
    expiresAt: maybe(record.expiresAtUs),
    revokedAt: maybe(record.revokedAtUs),
    lastUsedAt: maybe(record.lastUsedAtUs),
  };
}

/** The message ductor.v1.NewApiKey: the only one that holds a secret. */
export function newApiKeyOf({ record, apiKey }: CreatedKey): NewApiKey {
  return { key: apiKeyOf(record), secret: apiKey };
}

/** The message ductor.v1.Tenant. */
export function tenantOf({ id, slug, createdAtUs, retentionMs }: TenantRecord): Tenant {
  return { id, slug, createdAt: timestampOf(createdAtUs), retention: formatDurationMs(retentionMs) };
}
