/**
 * Data folders for tests without an initdb each: one is made per machine, package version and user, and copied (0.1 s
 * instead of 0.5 s idle, and of 3 s on a loaded machine). Tests of the first start itself do not use it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DuctorError } from '../../kernel/index.js';
import { startEmbeddedPostgres } from '../embedded/index.js';
import { platformPackage } from '../embedded/platform-package.js';
import { processUid, spawnIdentity } from '../embedded/run-as.js';
import { fastFolder } from './fast-folder.js';

/** Runs a system program. Throws internal when it fails. */
function run(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new DuctorError('internal', `${program} ${args.join(' ')}: ${stderr}`);
}

/** The folder that is copied; made if absent. */
async function seedFolder(): Promise<string> {
  const uid = processUid(spawnIdentity());
  const seed = join(fastFolder(), `ductor-seed-${platformPackage().version}-${uid}`);
  if (!existsSync(seed)) {
    const unfinished = mkdtempSync(`${seed}.`);
    await (await startEmbeddedPostgres({ dataDir: unfinished })).stop();
    try {
      renameSync(unfinished, seed);
    } catch (error) {
      // Another worker was faster.
      rmSync(unfinished, { recursive: true, force: true });
      if (!existsSync(seed)) throw error;
    }
  }
  // Anyone may make folders in the temp folder: one of another user is not used.
  if (lstatSync(seed).uid !== uid) throw new DuctorError('internal', `${seed} belongs to another user; remove it`);
  return seed;
}

/**
 * Puts a new database into a data folder that has none; does nothing where it has one.
 *
 * @param dataDir for startEmbeddedPostgres; must exist
 * @param uid user that will run the server; default: whom startEmbeddedPostgres would take
 */
export async function seedDataDir(dataDir: string, uid?: number): Promise<void> {
  const dataFolder = join(dataDir, 'pgdata');
  if (existsSync(dataFolder) || process.platform === 'win32') return;
  const unfinished = mkdtempSync(join(dataDir, 'seed-'));
  run('cp', ['-a', join(await seedFolder(), 'pgdata'), unfinished]);
  if (uid !== undefined) run('chown', ['-R', `${uid}:${uid}`, join(unfinished, 'pgdata')]);
  try {
    renameSync(join(unfinished, 'pgdata'), dataFolder);
  } catch (error) {
    // Another worker was faster: a folder that holds something is not replaced.
    if (!existsSync(join(dataFolder, 'PG_VERSION'))) throw error;
  }
  rmSync(unfinished, { recursive: true, force: true });
}
