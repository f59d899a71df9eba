/**
 * Brings the schema `ductor` up to date, under an advisory lock: of engines that start at once one migrates, the others
 * wait and find nothing to do. All pending migrations are one transaction. Then the wall between tenants is raised
 * around what they made.
 */
import pg from 'pg';
import { DuctorError } from '../../kernel/index.js';
import { classify, databaseError } from '../connect/classify.js';
import { migrationFiles, MIGRATIONS_FOLDER, type MigrationFile } from './migration-files.js';

/** How to migrate. */
export interface MigrateOptions {
  /** Connection string of the database; needs the right to create a schema. */
  readonly url: string;
  /** Called before each migration and after the last (done === total, name empty). */
  readonly onProgress?: (progress: MigrationProgress) => void;
  /** Folder of the migrations; default: the engine's. */
  readonly folder?: string;
}

/** How far it is. */
export interface MigrationProgress {
  readonly done: number;
  readonly total: number;
  /** The migration that begins. */
  readonly name: string;
}

/** What was done. */
export interface MigrationReport {
  /** Names of the migrations that were applied now. */
  readonly applied: readonly string[];
}

const SCHEMA = 'ductor';
/** Key of the advisory lock, ours alone: an app may use node-pg-migrate in the same database. */
const LOCK_KEY = 4_720_150_311_002;

/** Keeps what an older engine must know of a migration it has not got. */
const NOTES = `create table if not exists ${SCHEMA}.schema_migration_note (
  name text primary key, is_breaking boolean not null)`;

/** Names of applied migrations with their notes; undefined when the schema is not there. */
async function appliedMigrations(client: pg.Client): Promise<Map<string, boolean> | undefined> {
  const { rows } = await client.query<{ found: boolean }>(
    `select to_regclass('${SCHEMA}.schema_migration') is not null
        and to_regclass('${SCHEMA}.schema_migration_note') is not null as found`,
  );
  if (rows[0]?.found !== true) return undefined;
  const applied = await client.query<{ name: string; is_breaking: boolean }>(
    `select m.name, coalesce(n.is_breaking, true) as is_breaking
      from ${SCHEMA}.schema_migration m left join ${SCHEMA}.schema_migration_note n on n.name = m.name order by m.id`,
  );
  return new Map(applied.rows.map((row) => [row.name, row.is_breaking]));
}

/** Which of ours are not applied. Throws database_version_unsupported when the schema is a newer engine's. */
function pendingOf(ours: readonly MigrationFile[], applied: ReadonlyMap<string, boolean>): readonly MigrationFile[] {
  const known = new Set(ours.map(({ name }) => name));
  const foreign = [...applied].filter(([name]) => !known.has(name));
  const pending = ours.filter(({ name }) => !applied.has(name));
  const refused = foreign.filter(([, isBreaking]) => isBreaking || pending.length > 0).map(([name]) => name);
  if (refused.length > 0) {
    throw new DuctorError(
      'database_version_unsupported',
      `the schema has migrations of a newer engine: ${refused.join(', ')}`,
    );
  }
  const last = ours.findLast(({ name }) => applied.has(name));
  const early = pending.find(({ name }) => last !== undefined && name < last.name);
  if (early !== undefined) {
    throw new DuctorError(
      'internal',
      `migration ${early.name} comes before ${last?.name ?? ''}, which is applied already`,
    );
  }
  return pending;
}

/** Runs the pending migrations with node-pg-migrate on the client. */
async function runPending(
  client: pg.Client,
  options: MigrateOptions,
  files: readonly MigrationFile[],
): Promise<string[]> {
  // Imported only when there is something to do: it brings a module loader along, which a warm start need not pay for.
  const { runner } = await import('node-pg-migrate');
  let total = 0;
  let done = 0;
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const units = files.map(({ name, sql, isBreaking }) => ({
    id: `${name}.sql`,
    filePaths: [`${name}.sql`],
    actions: {
      up: (builder: { sql(text: string): void }): void => {
        options.onProgress?.({ done, total, name });
        done += 1;
        builder.sql(sql);
        builder.sql(`insert into ${SCHEMA}.schema_migration_note values ('${name}', ${isBreaking})`);
      },
      down: false as const,
    },
  }));
  await client.query(`create schema if not exists ${SCHEMA}`);
  await client.query(NOTES);
  const applied = await appliedMigrations(client);
  const pending = pendingOf(files, applied ?? new Map());
  total = pending.length;
  const ran = await runner({
    dbClient: client,
    dir: options.folder ?? MIGRATIONS_FOLDER,
    direction: 'up',
    migrationsSchema: SCHEMA,
    migrationsTable: 'schema_migration',
    checkOrder: true,
    noLock: true,
    singleTransaction: true,
    logger: quiet,
    migrationLoaderStrategies: [{ extensions: ['.sql'], loader: () => Promise.resolve(units) }],
  });
  options.onProgress?.({ done, total, name: '' });
  return ran.map(({ name }) => name);
}

/** Does the work on a connected client. */
async function migrateWith(client: pg.Client, options: MigrateOptions): Promise<MigrationReport> {
  const files = migrationFiles(options.folder);
  const applied = await appliedMigrations(client);
  const isPending = applied === undefined || pendingOf(files, applied).length > 0;
  // The common case of a start: nothing to do, no lock needed.
  if (!isPending && !(await lacksTenantWall(client))) return { applied: [] };
  await client.query(`select pg_advisory_lock(${LOCK_KEY})`);
  const ran = isPending ? await runPending(client, options, files) : [];
  if (await lacksTenantWall(client)) await raiseTenantWall(client);
  return { applied: ran };
}

/** Whether the schema knows the wall between tenants (migration 0005) and it does not stand. */
async function lacksTenantWall(client: pg.Client): Promise<boolean> {
  const known = await client.query(`select 1 where to_regprocedure('${SCHEMA}.tenant_wall_problem()') is not null`);
  if (known.rowCount === 0) return false;
  const { rows } = await client.query<{ problem: string | null }>(`select ${SCHEMA}.tenant_wall_problem() as problem`);
  return rows[0]?.problem !== null;
}

/** Raises it where this role may; where it may not, checkTenantWall says so to whoever starts an engine. */
async function raiseTenantWall(client: pg.Client): Promise<void> {
  try {
    await client.query(`select ${SCHEMA}.raise_tenant_wall()`);
  } catch (error) {
    if (classify(databaseError(error, 'raise the tenant wall')).class !== 'statement') throw error;
  }
}

/**
 * Migrates the database. Safe to call from many engines at once.
 *
 * Throws database_version_unsupported when the schema belongs to a newer engine, database_unavailable, or internal when
 * a migration fails (everything is rolled back).
 */
export async function migrate(options: MigrateOptions): Promise<MigrationReport> {
  const client = new pg.Client({
    connectionString: options.url,
    application_name: 'ductor migrate',
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await migrateWith(client, options);
  } catch (error) {
    throw databaseError(error, 'migrate');
  } finally {
    // Ends the session and with it the advisory lock.
    await client.end().catch(() => undefined);
  }
}
