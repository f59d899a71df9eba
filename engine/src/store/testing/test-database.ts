/** A migrated database of its own for a test file. */
import { afterAll, beforeAll } from 'vitest';
import { DuctorError, impossible, sleep, systemClock, systemRandom } from '../../kernel/index.js';
import { openDatabase, type Database } from '../connect/index.js';
import { plainName, testServer, type TestServer } from './test-server.js';

/** A database that exists until drop(). */
export interface CreatedDatabase {
  readonly db: Database;
  /** Connection string, for a second pool or another process. */
  readonly url: string;
  readonly name: string;
  /** Closes db and drops the database. Then throws internal when other sessions were left open. */
  drop(): Promise<void>;
}

/** What to leave out. */
export interface CreateOptions {
  /** Whether the schema is there; default true. */
  readonly isMigrated?: boolean;
}

/** Sessions that stay connected to a database; they get a moment to go. */
async function lingering(server: TestServer, name: string): Promise<string[]> {
  const clock = systemClock();
  for (let tries = 0; ; tries += 1) {
    const { rows } = await server.run(
      `select coalesce(nullif(application_name, ''), '(unnamed)') || ': ' || left(query, 80) as session
        from pg_stat_activity where datname = '${plainName(name)}' and backend_type = 'client backend'`,
    );
    if (rows.length === 0 || tries === 100) return rows.map((row: { session: string }) => row.session);
    await sleep(clock, 10);
  }
}

/** Creates a database from the template. For use outside hooks; most tests want testDatabase. */
export async function createTestDatabase(options: CreateOptions = {}): Promise<CreatedDatabase> {
  const server = await testServer();
  const random = Buffer.from(systemRandom().bytes(6)).toString('hex');
  const name = plainName(`${server.prefix}_${random}`);
  // file_copy lets the file system share blocks and writes no WAL for the copy, but forces two checkpoints; the log way
  // took 13 ms where file_copy took 30 ms.
  const template = options.isMigrated === false ? 'template0' : server.template;
  await server.run(`create database ${name} template ${template}`);
  const db = openDatabase({ url: server.url(name), applicationName: 'ductor test' });
  return {
    db,
    url: server.url(name),
    name,
    async drop() {
      await db.close();
      const left = await lingering(server, name);
      await server.run(`drop database if exists ${name} with (force)`);
      if (left.length > 0) throw new DuctorError('internal', `sessions were left open: ${left.join('; ')}`);
    },
  };
}

/** The database of the file or describe block it was called in. Its parts may be read once beforeAll has run. */
export interface TestDatabase {
  readonly db: Database;
  readonly url: string;
}

/**
 * Call at the top of a test file or describe block: registers the hooks that create a migrated database (about 15 ms),
 * drop it afterwards, and fail the file when a session was left open.
 */
export function testDatabase(options: CreateOptions = {}): TestDatabase {
  let created: CreatedDatabase | undefined;
  beforeAll(async () => {
    created = await createTestDatabase(options);
  });
  afterAll(async () => {
    await created?.drop();
  });
  const get = (): CreatedDatabase =>
    created ?? impossible('test-database-early', 'the test database is read before beforeAll');
  return {
    get db() {
      return get().db;
    },
    get url() {
      return get().url;
    },
  };
}
