/** Environment of the PostgreSQL processes. */
import type { Binaries } from './binaries.js';
import type { View } from './run-as.js';

/**
 * A small environment of our own: the engine's may hold secrets and PG* settings that PostgreSQL would follow.
 *
 * @param binaries tells the folder of library links, if any
 * @param view names that folder for the process
 */
export function libraryEnv(binaries: Binaries, view: View): NodeJS.ProcessEnv {
  const keep = ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR', 'TZ'];
  const env: NodeJS.ProcessEnv = Object.fromEntries(
    keep.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );
  env['LC_ALL'] = 'C';
  if (binaries.libraryFolder !== undefined) {
    const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
    env[variable] = view.name(binaries.libraryFolder);
  }
  return env;
}
