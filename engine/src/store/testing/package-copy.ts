/** Copies of the binary package, as package managers that do not run install scripts leave it. */
import { cpSync, readdirSync, lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { platformPackage } from '../embedded/platform-package.js';

/** Copies the native folder of the platform's package to FOLDER/native, without the library links. */
export function copyWithoutLinks(folder: string): string {
  const native = join(folder, 'native');
  cpSync(platformPackage().nativeFolder, native, { recursive: true, verbatimSymlinks: true });
  const library = join(native, 'lib');
  for (const name of readdirSync(library)) {
    const path = join(library, name);
    if (lstatSync(path).isSymbolicLink()) rmSync(path);
  }
  return native;
}
