/** The pools of sessions that every room shares: one that acts as the engine, one that acts for callers. */
import { openConnection } from './connection.js';
import { runStatement, runTransaction } from './run-statement.js';
import { sessionPool } from './session-pool.js';
import { prepareForTenants, tenantAccess } from './tenant-pool.js';
import type { Database } from './types.js';

/** How to open a database. */
export interface DatabaseOptions {
  /** Connection string: of a server, or of startEmbeddedPostgres. */
  readonly url: string;
  /** Shown in pg_stat_activity; must begin with "ductor". Default "ductor". */
  readonly applicationName?: string;
  /** Most pooled sessions at once, of the engine and, as many again, for callers; default 10. */
  readonly maxConnections?: number;
  /** Role of sessions for callers. Default ductor_api; null where checkTenantWall says that there is no wall. */
  readonly tenantRole?: string | null;
  /** Told of idle sessions that ended; default: nobody. */
  readonly log?: (line: string) => void;
}

/** Role under row-level security (migration 0005). */
const TENANT_ROLE = 'ductor_api';

/**
 * Opens a database: lazily, the first statement connects. Check the server with checkServer before use.
 * A statement throws database_unavailable when the server cannot be reached.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { url, applicationName = 'ductor', maxConnections = 10, tenantRole = TENANT_ROLE } = options;
  const shared = { url, maxConnections, log: options.log ?? ((): void => undefined) };
  const engine = sessionPool({ ...shared, kind: 'pooled', applicationName, prepare: () => Promise.resolve() });
  const callers = sessionPool({
    ...shared,
    kind: 'caller',
    applicationName: `${applicationName} for callers`,
    prepare: (client) => prepareForTenants(client, tenantRole),
  });
  let isClosed = false;
  return {
    ...tenantAccess(callers.withClient),
    query: (statement, values) => engine.withClient((client) => runStatement(client, statement, values)),
    transaction: (work) => engine.withClient((client) => runTransaction(client, work)),
    connect: (connectOptions) => openConnection(url, applicationName, connectOptions),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await Promise.all([engine.close(), callers.close()]);
    },
  };
}
