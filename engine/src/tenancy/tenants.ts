/** Tenants: made and listed by operators. The only statements that reach beyond one tenant. */
import { DuctorError } from '../kernel/index.js';
import type { Database } from '../store/index.js';
import { newApiKey } from './api-key.js';
import { insertAudit, type Deed } from './audit/index.js';
import { storeKey, type CreatedKey, type KeysOptions, type NewKey } from './keys.js';
import { ensureTenant } from './sql/ensure-tenant.js';
import { insertTenant, listTenants, type TenantRecord } from './sql/tenants.js';

/** A tenant to make. */
export interface NewTenant {
  readonly slug: string;
  /** How long its runs are kept after their end, ms; null: 30 days. */
  readonly retentionMs: number | null;
  readonly firstKey: Pick<NewKey, 'name' | 'scopes'>;
}

/** A tenant just made. */
export interface CreatedTenant {
  readonly tenant: TenantRecord;
  readonly firstKey: CreatedKey;
}

/** The tenants. */
export interface Tenants {
  /** Makes a tenant, or finds the one with this slug. Returns its id. */
  ensureTenant(slug: string): Promise<string>;
  /**
   * Makes a tenant with its first key. Both trails tell of it: that of the operator's tenant and the new one.
   *
   * @param by the operator's deed, in the operator's tenant
   *
   * Throws tenant_exists, invalid_argument.
   */
  createTenant(tenant: NewTenant, by: Deed & { readonly tenantId: string }): Promise<CreatedTenant>;
  /** By slug, those after `afterSlug` (empty: from the first), at most `limit`. */
  listTenants(afterSlug: string, limit: number): Promise<readonly TenantRecord[]>;
}

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether a text can be the slug of a tenant. */
export function isTenantSlug(text: string): boolean {
  return SLUG.test(text);
}

/** The tenants in this database. */
export function createTenants(db: Database, options: Omit<KeysOptions, 'db' | 'onRevoked'>): Tenants {
  const { newId, random } = options;
  return {
    ensureTenant: (slug) => ensureTenant(db, slug, newId()),
    async createTenant({ slug, retentionMs, firstKey }, by) {
      if (!isTenantSlug(slug)) {
        throw new DuctorError('invalid_argument', `${JSON.stringify(slug.slice(0, 200))} is no slug of a tenant`);
      }
      return db.transaction(async (tx) => {
        const tenant = await insertTenant(tx, { tenantId: newId(), slug, retentionMs });
        if (tenant === undefined) throw new DuctorError('tenant_exists', `there is a tenant ${slug} already`);
        const created = await storeKey(tx, options, { ...firstKey, tenantId: tenant.id }, newApiKey(random));
        await insertAudit(tx, [
          { ...by, objectKind: 'tenant', objectId: tenant.id, outcome: 'ok' },
          { ...by, tenantId: tenant.id, objectKind: 'api_key', objectId: created.keyId, outcome: 'ok' },
        ]);
        return { tenant, firstKey: created };
      });
    },
    listTenants: (afterSlug, limit) => listTenants(db, afterSlug, limit),
  };
}
