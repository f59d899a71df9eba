/**
 * The migrations: plain SQL files in engine/migrations, beside src and dist.
 *
 * Convention: 0001_what_it_does.sql, four digits, up only, never changed after a release. Names are written with their
 * schema (ductor.runs). The first line is `-- breaking: no` or `-- breaking: yes`: whether an engine that does not know
 * the migration must refuse to run on the migrated schema.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuctorError } from '../../kernel/index.js';

/** One migration. */
export interface MigrationFile {
  /** File name without .sql. */
  readonly name: string;
  /** Whether older engines must not run once it is applied. */
  readonly isBreaking: boolean;
  readonly sql: string;
}

/** Folder of the migrations; the same step up from src/store/migrate and from dist/store/migrate. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../migrations', import.meta.url));

/** Checks and reads one file. */
function readMigration(path: string): MigrationFile {
  const name = basename(path, '.sql');
  if (!/^\d{4}_[a-z0-9_]+$/.test(name)) {
    throw new DuctorError('internal', `migration ${path} should be named like 0002_what_it_does.sql`);
  }
  const sql = readFileSync(path, 'utf8');
  const breaking = /^-- breaking: (no|yes)\n/.exec(sql)?.[1];
  if (breaking === undefined) {
    throw new DuctorError('internal', `migration ${path} must begin with "-- breaking: no" or "-- breaking: yes"`);
  }
  return { name, isBreaking: breaking === 'yes', sql };
}

/** All migrations in their order. Throws internal when a file breaks the convention. */
export function migrationFiles(folder: string = MIGRATIONS_FOLDER): readonly MigrationFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const files = names.sort().map((name) => readMigration(join(folder, name)));
  const numbers = new Set(files.map(({ name }) => name.slice(0, 4)));
  if (numbers.size < files.length) throw new DuctorError('internal', `two migrations in ${folder} share a number`);
  return files;
}
