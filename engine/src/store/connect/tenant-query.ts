/**
 * One statement for one tenant, in one round trip. In front of it, in the same write, goes the statement that sets the
 * tenant. The server ends a transaction at the Sync that comes after both, so the setting, which is local to its
 * transaction, covers this statement and is gone with it.
 *
 * States: setting (answers belong to the statement in front) -> asked (they belong to the caller's).
 */
import pg from 'pg';
import { impossible } from '../../kernel/index.js';
import type { Prepared } from './types.js';

/** Sets the tenant of a transaction; prepared in each session before its first use. */
export const SET_TENANT = {
  name: 'ductor_set_tenant',
  text: "select set_config('ductor.tenant_id', $1, true)",
} as const;

/** What a client tells a query of node-postgres; its types leave it out. */
interface MessageHandlers {
  readonly handleDataRow: (message: unknown) => void;
  readonly handleCommandComplete: (message: unknown, connection: unknown) => void;
}

function hasHandlers(query: object): query is MessageHandlers {
  const { handleDataRow, handleCommandComplete }: Partial<MessageHandlers> = query;
  return typeof handleDataRow === 'function' && typeof handleCommandComplete === 'function';
}

/** Puts the setting of the tenant in front of a query that was not sent yet. */
function behindTenant(query: pg.Query, tenantId: string): pg.Query {
  if (!hasHandlers(query)) return impossible('pg-query', 'a query of node-postgres has no handlers of messages');
  const { submit, handleDataRow, handleCommandComplete } = query;
  let isSetting = true;
  return Object.assign(query, {
    submit(connection: pg.Connection) {
      const { stream } = connection;
      stream.cork();
      try {
        connection.bind({ portal: '', statement: SET_TENANT.name, values: [tenantId] }, true);
        connection.execute(null, true);
        return submit.call(query, connection);
      } finally {
        stream.uncork();
      }
    },
    handleDataRow(message: unknown) {
      if (!isSetting) handleDataRow.call(query, message);
    },
    handleCommandComplete(message: unknown, connection: unknown) {
      if (isSetting) isSetting = false;
      else handleCommandComplete.call(query, message, connection);
    },
  });
}

/**
 * Sends a statement for a tenant through a session in which SET_TENANT is prepared. Rejects with what node-postgres
 * throws.
 */
export function queryAsTenant<R extends pg.QueryResultRow>(
  client: pg.ClientBase,
  tenantId: string,
  statement: Partial<Prepared> & { readonly text: string },
  values: readonly unknown[],
): Promise<{ readonly rows: R[]; readonly rowCount: number | null }> {
  return new Promise((resolve, reject) => {
    // A statement without parameters would otherwise go by the simple protocol, which ends the transaction before it.
    const config = { ...statement, values: [...values], queryMode: 'extended' };
    const query = new pg.Query<R>(config, (error, result) => {
      if (error) reject(error);
      else resolve(result);
    });
    client.query(behindTenant(query, tenantId));
  });
}
