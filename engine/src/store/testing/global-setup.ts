/**
 * Set-up of a whole vitest run (vitest.config.ts, globalSetup): names the folder of the run's own embedded PostgreSQL,
 * which the first test that needs a database starts, and removes both at the end. Costs nothing to runs without one.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '../../kernel/index.js';
import { isProcessAlive, readPostmaster } from '../embedded/postmaster-pid.js';
import { dropRunDatabases, runPrefix } from './drop-run-databases.js';
import { fastFolder } from './fast-folder.js';

/** Environment variable with the run's folder; workers inherit it. */
export const RUN_FOLDER_VARIABLE = 'DUCTOR_TEST_RUN_FOLDER';

/** Environment variable with a superuser's connection string to a server to use instead of the embedded one. */
export const SERVER_VARIABLE = 'DUCTOR_TEST_DATABASE_URL';

const PREFIX = 'ductor-test-';

/** Folder of the run with that process id, made if absent. */
export function runFolderOf(pid: number): string {
  const folder = join(fastFolder(), `${PREFIX}${pid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Stops the server of a run at once (nobody needs its data) and removes the folder. */
export async function removeRunFolder(folder: string): Promise<void> {
  const clock = systemClock();
  const found = readPostmaster(join(folder, 'pgdata'));
  if (found.state === 'alive') {
    process.kill(found.pid, 'SIGQUIT');
    for (let tries = 0; tries < 1_000 && isProcessAlive(found.pid); tries += 1) await sleep(clock, 5);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Removes what killed runs left behind; the folder's name ends with the process id of its run. */
async function removeAbandoned(): Promise<void> {
  for (const name of readdirSync(fastFolder())) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : 0;
    if (!Number.isInteger(pid) || pid <= 0 || isProcessAlive(pid)) continue;
    // Another user's leftovers are not ours to remove.
    await removeRunFolder(join(fastFolder(), name)).catch(() => undefined);
  }
}

/** Called by vitest before the run; what it returns, after it. */
export default async function setup(): Promise<() => Promise<void>> {
  await removeAbandoned();
  const folder = runFolderOf(process.pid);
  process.env[RUN_FOLDER_VARIABLE] = folder;
  return async () => {
    const url = process.env[SERVER_VARIABLE];
    if (url !== undefined && url !== '') await dropRunDatabases(url, runPrefix(String(process.pid)));
    await removeRunFolder(folder);
  };
}
