/**
 * Makes the binaries of the platform package runnable: library links that a blocked install script did not make, and a
 * copy in a shared folder when the PostgreSQL user cannot reach the package.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DuctorError } from '../../kernel/index.js';
import type { PlatformPackage } from './platform-package.js';
import { canReach, type Identity } from './run-as.js';

/** Runnable binaries. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Folders for the loader's path: none when the links stand in the package. */
  readonly libraryFolders: readonly string[];
}

interface Link {
  /** Absolute path of the link. */
  readonly path: string;
  /** File name it points to, in the same folder. */
  readonly target: string;
}

/** Where a root engine keeps copies of unreachable binaries. Only root may write there. */
const SHARED_CACHE_FOLDER = '/var/cache/ductor';

const EXE = process.platform === 'win32' ? '.exe' : '';

/** The links the package wants, from its pg-symlinks.json; none where it has no such file. */
function wantedLinks(nativeFolder: string): Link[] {
  const file = join(nativeFolder, 'pg-symlinks.json');
  if (!existsSync(file)) return [];
  const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!Array.isArray(parsed)) throw new DuctorError('embedded_database_failed', `${file} is not a list`);
  return parsed.map((entry: unknown) => {
    const link = typeof entry === 'object' && entry !== null ? entry : {};
    const source = 'source' in link && typeof link.source === 'string' ? link.source : undefined;
    const target = 'target' in link && typeof link.target === 'string' ? link.target : undefined;
    if (source === undefined || target === undefined) {
      throw new DuctorError('embedded_database_failed', `${file} holds an entry without source and target`);
    }
    // The paths in the file begin with "native/"; both ends lie in one folder.
    return { path: join(nativeFolder, '..', target), target: basename(source) };
  });
}

/** Makes one link; another engine may do the same at the same moment. */
function makeLink(target: string, path: string): void {
  try {
    symlinkSync(target, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/**
 * Makes the links that are missing, in the package or, where that is read-only, in a folder of our own.
 * Returns that folder, or undefined when the package is complete.
 */
function ensureLinks(nativeFolder: string, fallbackFolder: string): string | undefined {
  const missing = wantedLinks(nativeFolder).filter((link) => !existsSync(link.path));
  if (missing.length === 0) return undefined;
  try {
    for (const link of missing) makeLink(link.target, link.path);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && ['EROFS', 'EACCES', 'EPERM'].includes(String(error.code))))
      throw error;
  }
  mkdirSync(fallbackFolder, { recursive: true, mode: 0o755 });
  for (const link of missing) {
    const path = join(fallbackFolder, basename(link.path));
    rmSync(path, { force: true });
    makeLink(join(dirname(link.path), link.target), path);
  }
  return fallbackFolder;
}

/** Copies the package to a folder that every user can reach; a complete copy of an earlier start is reused. */
function sharedCopy(found: PlatformPackage, cacheFolder: string): string {
  const name = `postgres-${found.version}-${process.platform}-${process.arch}`;
  const place = join(cacheFolder, name);
  mkdirSync(cacheFolder, { recursive: true, mode: 0o755 });
  const { uid, mode } = statSync(cacheFolder);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
    throw new DuctorError(
      'embedded_database_failed',
      `${cacheFolder} can be written by others; binaries are not run from it`,
    );
  }
  if (!existsSync(place)) {
    // Complete before it gets its name, so that a copy cut short is never used.
    const unfinished = mkdtempSync(join(cacheFolder, `${name}.`));
    cpSync(found.nativeFolder, join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
    openForAll(unfinished);
    try {
      renameSync(unfinished, place);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      if (!existsSync(place)) throw error;
    }
  }
  return join(place, 'native');
}

/** Makes the copy readable by all; mkdtemp made its root 0700 and a strict umask may have cut the rest. */
function openForAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openForAll(path);
    else if (entry.isFile()) chmodSync(path, statSync(path).mode | 0o444 | (basename(folder) === 'bin' ? 0o111 : 0));
  }
}

/**
 * Binaries the identity can run.
 *
 * @param found the platform package
 * @param identity who will run them
 * @param libraryFolder where links go when the package is read-only
 * @param cacheFolder where copies go when the package is unreachable; default SHARED_CACHE_FOLDER
 */
export function runnableBinaries(
  found: PlatformPackage,
  identity: Identity | undefined,
  libraryFolder: string,
  cacheFolder: string = SHARED_CACHE_FOLDER,
): Binaries {
  const postgres = join(found.nativeFolder, 'bin', `postgres${EXE}`);
  if (!existsSync(postgres)) {
    throw new DuctorError('embedded_database_unsupported', `the package of this platform holds no ${postgres}`);
  }
  const open = identity === undefined || (canReach(identity, postgres) && (statSync(postgres).mode & 0o005) === 0o005);
  const nativeFolder = open ? found.nativeFolder : sharedCopy(found, cacheFolder);
  const links = ensureLinks(nativeFolder, libraryFolder);
  return {
    initdb: join(nativeFolder, 'bin', `initdb${EXE}`),
    postgres: join(nativeFolder, 'bin', `postgres${EXE}`),
    // A library found through a link looks for its neighbours beside the link: the package's own folder is needed too.
    libraryFolders: links === undefined ? [] : [links, join(nativeFolder, 'lib')],
  };
}
