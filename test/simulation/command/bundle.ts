/**
 * The code of a simulating process as one file. Read through a loader that keeps the names of all functions, a process
 * takes seconds to start, and each function made on the way costs one more call: a tenth of the time of a seed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
/** Within the project, so that the file finds the packages. */
const PLACE = fileURLToPath(new URL('../../../node_modules/', import.meta.url));

/** A bundle; `remove` takes it away. */
export interface Bundle {
  readonly file: string;
  remove(): void;
}

/** Makes the bundle. */
export async function bundleChild(): Promise<Bundle> {
  const folder = mkdtempSync(`${PLACE}.ductor-simulation-`);
  const file = `${folder}/child.mjs`;
  const form = { bundle: true, packages: 'external', platform: 'node', format: 'esm', target: 'node20' } as const;
  await build({ ...form, entryPoints: [CHILD], outfile: file, sourcemap: 'inline', logLevel: 'error' });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
