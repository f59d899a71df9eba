/**
 * The server that the tests of a run share: the run's embedded PostgreSQL, or the one DUCTOR_TEST_DATABASE_URL names
 * (a superuser's connection string; CI runs the tests against PostgreSQL 15 that way).
 *
 * Every worker asks for it; the first one starts it, the others adopt it. The same for the template database.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import pg from 'pg';
import { DuctorError } from '../../kernel/index.js';
import { startEmbeddedPostgres } from '../embedded/index.js';
import { migrationFiles } from '../migrate/migration-files.js';
import { migrate } from '../migrate/index.js';
import { runPrefix } from './drop-run-databases.js';
import { removeRunFolder, RUN_FOLDER_VARIABLE, runFolderOf, SERVER_VARIABLE } from './global-setup.js';
import { seedDataDir } from './seed-data.js';

/** A server that can be asked for databases. */
export interface TestServer {
  /** Connection string of a database of the server. */
  url(database: string): string;
  /** Runs one statement on the maintenance database. */
  run(statement: string): Promise<pg.QueryResult>;
  /** Name of the migrated template database. */
  readonly template: string;
  /** Prefix of the names of this run's databases. */
  readonly prefix: string;
}

/** Key of the advisory lock under which the template is made. */
const TEMPLATE_LOCK = 4_720_150_311_003;

/** The same connection string for another database. */
function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

/** Folder of the run; outside a run with the global set-up, one of this process that goes with it. */
function runFolder(): string {
  const given = process.env[RUN_FOLDER_VARIABLE];
  if (given !== undefined) return given;
  const folder = runFolderOf(process.pid);
  process.env[RUN_FOLDER_VARIABLE] = folder;
  process.once('beforeExit', () => void removeRunFolder(folder));
  return folder;
}

/** Connection string of the maintenance database. */
async function maintenanceUrl(folder: string): Promise<string> {
  const given = process.env[SERVER_VARIABLE];
  if (given !== undefined && given !== '') return given;
  await seedDataDir(folder);
  return (await startEmbeddedPostgres({ dataDir: folder })).url;
}

/** Runs the work on a connection to the database of the url. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'test maintenance' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A connection that stays, and keeps no process alive: a new one for each statement took longer than most of them. */
function maintenancePool(url: string): pg.Pool {
  const options = { max: 1, idleTimeoutMillis: 60_000, allowExitOnIdle: true, application_name: 'test maintenance' };
  const pool = new pg.Pool({ connectionString: url, ...options });
  pool.on('error', () => undefined);
  return pool;
}

/** Makes the template unless another worker has; its name tells the state of the migrations. */
async function ensureTemplate(url: string, template: string): Promise<void> {
  await withClient(url, async (client) => {
    const ready = 'select 1 from pg_database where datname = $1 and datistemplate';
    if ((await client.query(ready, [template])).rowCount === 1) return;
    await client.query(`select pg_advisory_lock(${TEMPLATE_LOCK})`);
    if ((await client.query(ready, [template])).rowCount === 1) return;
    await client.query(`drop database if exists ${template}`);
    await client.query(`create database ${template} template template0`);
    await migrate({ url: withDatabase(url, template) });
    // Marked last: a template that is not marked was left unfinished.
    await client.query(`alter database ${template} with is_template true`);
  });
}

/** Connects to the server of the run, starting it if need be. */
async function openTestServer(): Promise<TestServer> {
  const folder = runFolder();
  const url = await maintenanceUrl(folder);
  const prefix = runPrefix(basename(folder).replace(/^.*-/, ''));
  const digest = createHash('sha256');
  for (const { name, sql } of migrationFiles()) digest.update(name).update(sql);
  const template = `${prefix}_template_${digest.digest('hex').slice(0, 12)}`;
  await ensureTemplate(url, template);
  const maintenance = maintenancePool(url);
  return {
    url: (database) => withDatabase(url, database),
    run: (statement) => maintenance.query(statement),
    template,
    prefix,
  };
}

let server: Promise<TestServer> | undefined;

/** The server of the run; the same promise within a process. */
export function testServer(): Promise<TestServer> {
  server ??= openTestServer();
  return server;
}

/** Checks a name that is put into a statement as it stands. Throws internal. */
export function plainName(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name)) throw new DuctorError('internal', `${name} is no plain database name`);
  return name;
}
