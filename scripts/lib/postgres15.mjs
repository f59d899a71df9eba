// Finds (and on Debian starts) a PostgreSQL server of this machine in which the tests may create databases.
import { spawnSync } from 'node:child_process';
import pg from 'pg';

const SOCKET = '/var/run/postgresql';
const CANDIDATES = [
  'postgres://postgres@127.0.0.1:5432/postgres',
  `postgres://root@/postgres?host=${SOCKET}`,
  `postgres://postgres@/postgres?host=${SOCKET}`,
];

/** Version of the server as a number such as 150018, when we may create databases there; else undefined. */
async function versionAt(url) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    const { rows } = await client.query(
      `select current_setting('server_version_num')::int as version from pg_roles
        where rolname = current_user and (rolcreatedb or rolsuper)`,
    );
    return rows[0]?.version;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The first candidate that answers with PostgreSQL 15 or newer. */
async function firstUsable() {
  for (const url of CANDIDATES) {
    const version = await versionAt(url);
    if (version !== undefined && version >= 150_000) return { url, version };
  }
  return undefined;
}

/**
 * Root URL of a real server: the one that runs; else Debian's cluster "15 main", started; else the same with a role
 * for the present user.
 *
 * @returns {Promise<{url: string, version: number} | undefined>} undefined when this machine has none
 */
export async function findPostgres() {
  const attempts = [
    undefined,
    ['pg_ctlcluster', '--skip-systemctl-redirect', '15', 'main', 'start'],
    ['su', 'postgres', '-c', 'createuser --superuser root'],
  ];
  for (const attempt of attempts) {
    if (attempt) spawnSync(attempt[0], attempt.slice(1), { stdio: ['ignore', 'inherit', 'inherit'] });
    const found = await firstUsable();
    if (found) return found;
  }
  return undefined;
}
