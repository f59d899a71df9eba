/**
 * The two ways to back a database up that docs/operations.md tells of, and back from there. A base backup copies the
 * files of a server that runs, by the server's own protocol for it; a dump is a text of one database.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../engine/src/store/index.js';
import { withClient } from '../../engine/src/store/testing/index.js';
import { fastFolder } from '../../engine/src/store/testing/fast-folder.js';
import { scratchFolder } from './scratch.js';

/** A database that stands by itself after a restore. */
export interface Restored {
  readonly url: string;
  close(): Promise<unknown>;
}

/** A backup that was taken. */
export type Restore = () => Promise<Restored>;

/** `cp -a`; files of a server that runs may go while they are copied, which its write-ahead log knows of. */
function copy(from: string, to: string): void {
  spawnSync('cp', ['-a', `${from}/.`, to], { stdio: 'ignore' });
}

/**
 * Takes a base backup of an embedded server, as `pg_basebackup` does: its files between pg_backup_start and
 * pg_backup_stop, and the write-ahead log up to there.
 *
 * @param dataDir what startEmbeddedPostgres was given
 */
export async function baseBackup(url: string, dataDir: string): Promise<Restore> {
  const target = scratchFolder('restored', fastFolder());
  const [from, to] = [join(dataDir, 'pgdata'), join(target, 'pgdata')];
  mkdirSync(to, { mode: 0o700 });
  const label = await withClient(url, async (client) => {
    await client.query("select pg_backup_start('test', true)");
    copy(from, to);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    return rows[0]?.labelfile ?? '';
  });
  copy(join(from, 'pg_wal'), join(to, 'pg_wal'));
  for (const name of readdirSync(to).filter((each) => /^postmaster\.|^\.s\.PGSQL/.test(each))) rmSync(join(to, name));
  writeFileSync(join(to, 'backup_label'), label);
  spawnSync('chown', ['--reference', from, to, join(to, 'backup_label'), target]);
  return async () => {
    const server = await startEmbeddedPostgres({ dataDir: target });
    return { url: server.url, close: () => server.stop() };
  };
}

/** Major version of the `pg_dump` of this machine; 0: there is none. */
export function pgDumpVersion(): number {
  const { status, stdout } = spawnSync('pg_dump', ['--version'], { encoding: 'utf8' });
  return status === 0 ? Number(/\) (\d+)/.exec(stdout)?.[1] ?? 0) : 0;
}

/** Major version of a server. */
export async function serverVersion(url: string): Promise<number> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ version: number }>("select current_setting('server_version_num')::integer / 10000 as version"),
  );
  return rows[0]?.version ?? 0;
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}: ${said}`);
}

/**
 * Takes a dump of the schema of the engine, as a nightly job does.
 *
 * @param emptyUrl an empty database to restore to
 */
export async function dump(url: string, emptyUrl: string): Promise<Restore> {
  const file = join(scratchFolder('dump', fastFolder()), 'ductor.dump');
  await run('pg_dump', ['--format=custom', '--schema=ductor', `--file=${file}`, url]);
  return async () => {
    await run('pg_restore', ['--exit-on-error', `--dbname=${emptyUrl}`, file]);
    return { url: emptyUrl, close: () => Promise.resolve(true) };
  };
}
