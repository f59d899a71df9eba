/** Versions of the packages installed for the bench. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { BENCH } from './places.js';

const manifest = z.object({ version: z.string() });

/** Version of an installed package; undefined when it is not there. */
export function installedVersion(name: string): string | undefined {
  const file = join(BENCH, 'node_modules', name, 'package.json');
  return existsSync(file) ? manifest.parse(JSON.parse(readFileSync(file, 'utf8'))).version : undefined;
}

/** Version of an installed package. Throws when it is not there. */
export function packageVersion(name: string): string {
  const version = installedVersion(name);
  if (version === undefined) throw new Error(`${name} is not installed in bench/`);
  return version;
}
