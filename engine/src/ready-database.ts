/** Makes a database ready for a node: checked, migrated, its sessions for callers behind the wall if there is one. */
import { checkServer, checkTenantWall, type Database, migrate, openDatabase } from './store/index.js';
import type { Log } from './telemetry/index.js';

/** Which database. */
export interface ReadyDatabaseOptions {
  /** Connection string. */
  readonly url: string;
  /** Whether a server that may lose acknowledged commits is accepted. */
  readonly allowUnsafe: boolean;
  readonly log: Log;
}

/**
 * Opens the database. Where row-level security cannot be had, the log says what is missing, and tenants are kept apart
 * by the statements alone.
 *
 * Throws database_unavailable, database_version_unsupported, database_settings_unsafe, database_role_unsuitable.
 */
export async function readyDatabase({ url, allowUnsafe, log }: ReadyDatabaseOptions): Promise<Database> {
  const open = (tenantRole?: null): Database =>
    openDatabase({
      ...{ url, applicationName: 'ductor engine', log: (line) => log.info({}, line) },
      ...(tenantRole === undefined ? {} : { tenantRole }),
    });
  const db = open();
  try {
    await checkServer(db, allowUnsafe);
    await migrate({
      url,
      onProgress: ({ name }) => {
        if (name !== '') log.info({ migration: name }, 'migrating');
      },
    });
    const missing = await checkTenantWall(db);
    if (missing === null) return db;
    log.warn({ ...missing }, 'the database does not keep tenants apart: row-level security cannot be enforced');
  } catch (error) {
    await db.close();
    throw error;
  }
  await db.close();
  return open(null);
}
