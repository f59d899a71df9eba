/** Folders of tests and of the demo, gone when this process ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive, readPostmaster } from '../../engine/src/store/embedded/postmaster-pid.js';
import { fastFolder } from '../../engine/src/store/testing/fast-folder.js';
import { sleep } from './wait.js';

const FOLDERS = new Set<string>();
let guarded = false;

/** What `ductor dev --data-dir` is given: a folder that is not there yet, where its database is fast. */
export function dataFolder(name: string): string {
  return join(scratchFolder(name, fastFolder()), 'ductor');
}

/** A new empty folder. */
export function scratchFolder(name: string, parent = tmpdir()): string {
  if (!guarded) {
    guarded = true;
    process.on('exit', () => {
      for (const folder of FOLDERS) remove(folder);
    });
  }
  const folder = mkdtempSync(join(parent, `ductor-${name}-`));
  FOLDERS.add(folder);
  return folder;
}

/** Removes the folders made so far. */
export function removeScratchFolders(): void {
  for (const folder of FOLDERS) remove(folder);
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  FOLDERS.delete(folder);
}

/**
 * Turns the embedded PostgreSQL of a data folder off at once, as nobody needs its data any more. A killed engine leaves
 * it running on purpose; who throws the folder away has to end it. Resolves with whether one ran.
 *
 * @param dataDir what `ductor dev --data-dir` was given
 */
export async function endEmbeddedPostgres(dataDir: string): Promise<boolean> {
  const found = readPostmaster(join(dataDir, 'postgres', 'pgdata'));
  if (found.state !== 'alive') return false;
  process.kill(found.pid, 'SIGQUIT');
  for (let tries = 0; tries < 2_000 && isProcessAlive(found.pid); tries += 1) await sleep(5);
  if (isProcessAlive(found.pid)) throw new Error(`the PostgreSQL of ${dataDir} does not end`);
  return true;
}
