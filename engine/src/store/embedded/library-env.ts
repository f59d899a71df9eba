/** Environment of the PostgreSQL processes. */
import type { Binaries } from './binaries.js';
import type { View } from './run-as.js';

/**
 * A small environment of our own: the engine's may hold secrets and PG* settings that PostgreSQL would follow.
 *
 * @param binaries tells the folders of libraries, if any
 * @param view names those folders for the process
 */
export function libraryEnv(binaries: Binaries, view: View): NodeJS.ProcessEnv {
  const keep = ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR', 'TZ'];
  const env: NodeJS.ProcessEnv = Object.fromEntries(
    keep.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );
  env['LC_ALL'] = 'C';
  if (binaries.libraryFolders.length > 0) {
    const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
    env[variable] = binaries.libraryFolders.map((folder) => view.name(folder)).join(':');
  }
  return env;
}
