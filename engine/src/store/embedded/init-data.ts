/**
 * Makes a data folder. It is made under another name and renamed when it is complete and on disk, so that a folder of
 * the final name is always usable, wherever an earlier attempt was killed.
 *
 * Measured (docs/decisions/0003): initdb 0.4 s, syncing its files afterwards 0.04 s with syncfs, 0.14 s with fsync.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DuctorError, systemRandom } from '../../kernel/index.js';
import type { Binaries } from './binaries.js';
import { isProcessAlive } from './postmaster-pid.js';
import { giveTo, viewOf, type Identity } from './run-as.js';
import { libraryEnv } from './library-env.js';

/** Name of the database role that owns everything in an embedded database. */
export const EMBEDDED_USER = 'ductor';

/** What initdb needs to know. */
export interface InitOptions {
  readonly binaries: Binaries;
  readonly identity: Identity | undefined;
  /** File with the password; without one every connection is trusted (unix socket in a 0700 folder). */
  readonly passwordFile: string | undefined;
}

/** Runs a program to its end; resolves with its exit code and the end of what it wrote. */
function run(
  file: string,
  args: readonly string[],
  folder: string,
  options: InitOptions,
): Promise<[number | null, string]> {
  const view = viewOf(options.identity, folder);
  return new Promise((resolve, reject) => {
    const child = spawn(file, ['-D', view.name(folder), ...args], {
      ...options.identity,
      cwd: view.cwd,
      env: libraryEnv(options.binaries, view),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-4000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('close', (code) => resolve([code, output]));
  });
}

/** Runs initdb with the arguments; throws embedded_database_failed with its last lines. */
async function initdb(args: readonly string[], folder: string, options: InitOptions): Promise<void> {
  const [code, output] = await run(options.binaries.initdb, args, folder, options);
  if (code !== 0) {
    throw new DuctorError('embedded_database_failed', `initdb for ${folder} ended with ${code}: ${output.trim()}`);
  }
}

/** Attempts of this process. */
const inProgress = new Set<string>();

/** Removes what killed attempts left beside the data folder; the name tells the process that made it. */
function removeUnfinished(dataFolder: string): void {
  const prefix = `${basename(dataFolder)}.init-`;
  for (const name of readdirSync(dirname(dataFolder))) {
    const path = join(dirname(dataFolder), name);
    if (!name.startsWith(prefix) || inProgress.has(path)) continue;
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (pid !== process.pid && isProcessAlive(pid)) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // An initdb whose engine was killed still writes there; a later start removes it.
    }
  }
}

/** Writes a folder's entries to disk, so that a rename in it survives a power cut. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** Whether the folder holds a finished database. */
function isInitialised(dataFolder: string): boolean {
  return existsSync(join(dataFolder, 'PG_VERSION'));
}

/** Makes a complete database in the folder and writes it to disk. */
async function fill(folder: string, options: InitOptions): Promise<void> {
  mkdirSync(folder, { mode: 0o700 });
  giveTo(options.identity, folder);
  const { passwordFile } = options;
  const password = passwordFile && `--pwfile=${viewOf(options.identity, folder).name(passwordFile)}`;
  const auth = password === undefined ? ['--auth=trust'] : ['--auth=scram-sha-256', password];
  // builtin: the collation never depends on the ICU or C library the binaries happen to carry.
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '-E', 'UTF8'];
  await initdb(['-U', EMBEDDED_USER, ...auth, ...locale, '--no-sync', '--no-instructions'], folder, options);
  const method = process.platform === 'linux' ? ['--sync-method=syncfs'] : [];
  await initdb(['--sync-only', ...method], folder, options);
}

/** Gives the finished folder its final name, unless another engine was faster. */
function publish(unfinished: string, dataFolder: string): void {
  try {
    renameSync(unfinished, dataFolder);
  } catch (error) {
    if (!isInitialised(dataFolder)) throw error;
  }
  syncFolder(dirname(dataFolder));
}

/** Makes the data folder unless it is there; when two engines try at once the first to finish wins. */
export async function initData(dataFolder: string, options: InitOptions): Promise<void> {
  if (isInitialised(dataFolder)) return;
  removeUnfinished(dataFolder);
  const tag = Buffer.from(systemRandom().bytes(4)).toString('hex');
  const unfinished = `${dataFolder}.init-${process.pid}-${tag}`;
  inProgress.add(unfinished);
  try {
    await fill(unfinished, options);
    publish(unfinished, dataFolder);
  } finally {
    inProgress.delete(unfinished);
    rmSync(unfinished, { recursive: true, force: true });
  }
}
