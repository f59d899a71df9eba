/** Refuses servers that are too old or may lose what they acknowledged. */
import { DuctorError, type Problem } from '../../kernel/index.js';
import type { Queryable } from './types.js';

/** What the server is. */
export interface ServerFacts {
  /** server_version_num: 150018 is 15.18. */
  readonly versionNumber: number;
  /** As the server writes it. */
  readonly version: string;
  /** Names of durability settings that are off; empty unless allowed. */
  readonly unsafeSettings: readonly string[];
}

/** Oldest server the engine's SQL runs on. */
const MIN_VERSION = 150_000;

/** Settings that must not be "off". */
const DURABILITY = ['fsync', 'full_page_writes', 'synchronous_commit'];

/**
 * Judges the settings of a server by name.
 *
 * @param allowUnsafe whether a server that may lose acknowledged commits is accepted
 *
 * Throws database_version_unsupported, database_settings_unsafe.
 */
export function judgeServer(settings: ReadonlyMap<string, string>, allowUnsafe: boolean): ServerFacts {
  const version = settings.get('server_version') ?? 'unknown';
  const versionNumber = Number(settings.get('server_version_num') ?? 0);
  if (versionNumber < MIN_VERSION) {
    throw new DuctorError('database_version_unsupported', `the server is PostgreSQL ${version}, 15 or newer is needed`);
  }
  const unsafeSettings = DURABILITY.filter((name) => settings.get(name) === 'off');
  if (unsafeSettings.length > 0 && !allowUnsafe) {
    const problem = 'acknowledged commits may be lost';
    const details = unsafeSettings.map((path): Problem => ({
      path,
      value: 'off',
      problem,
      remedy: `set ${path} = on`,
    }));
    throw new DuctorError('database_settings_unsafe', `the server has ${unsafeSettings.join(', ')} off`, { details });
  }
  return { versionNumber, version, unsafeSettings };
}

/**
 * Checks the server.
 *
 * @param db where to ask
 * @param allowUnsafe whether a server that may lose acknowledged commits is accepted; default false
 *
 * Throws database_version_unsupported, database_settings_unsafe.
 */
export async function checkServer(db: Queryable, allowUnsafe = false): Promise<ServerFacts> {
  const { rows } = await db.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [[...DURABILITY, 'server_version', 'server_version_num']],
  );
  return judgeServer(new Map(rows.map(({ name, setting }) => [name, setting])), allowUnsafe);
}
