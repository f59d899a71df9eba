/**
 * Sessions that serve callers. They act as ductor_api from their first statement on: one that comes without a tenant
 * sees nothing, so what is forgotten fails closed.
 */
import pg from 'pg';
import { DuctorError, isUuid } from '../../kernel/index.js';
import { runTenantStatement, runTransaction } from './run-statement.js';
import type { WithClient } from './session-pool.js';
import { SET_TENANT } from './tenant-query.js';
import type { TenantAccess } from './types.js';

/**
 * Sets a new session up for tenants.
 *
 * @param role null: it stays what it connected as, where the wall does not stand
 */
export async function prepareForTenants(client: pg.ClientBase, role: string | null): Promise<void> {
  if (role !== null) await client.query(`set role ${pg.escapeIdentifier(role)}`);
  await client.query({ ...SET_TENANT, values: [''] });
}

/** Access through these sessions. */
export function tenantAccess(withClient: WithClient): TenantAccess {
  return {
    asTenant(tenantId) {
      // The id goes into a text that begins transactions: nothing but a UUID may.
      const withTenant: WithClient = (run) => {
        if (isUuid(tenantId)) return withClient(run);
        return Promise.reject(new DuctorError('internal', `${JSON.stringify(tenantId)} is no id of a tenant`));
      };
      const begin = `begin; select set_config('ductor.tenant_id', '${tenantId}', true)`;
      return {
        query: (statement, values) => withTenant((client) => runTenantStatement(client, tenantId, statement, values)),
        transaction: (work) => withTenant((client) => runTransaction(client, work, begin)),
      };
    },
  };
}
