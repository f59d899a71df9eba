/** Where the server's unix socket lies: in its data folder, or in a short temp folder when that path is too long. */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuctorError } from '../../kernel/index.js';
import { giveTo, processUid, type Identity } from './run-as.js';

/** Longest path of a unix socket in bytes, without the closing NUL. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * Folder of the socket; the same for every start on the data folder, so that a later engine finds an orphan.
 * Throws embedded_database_failed when somebody else made the temp folder.
 */
export function socketFolder(dataFolder: string, port: number, identity: Identity | undefined): string {
  const length = (folder: string): number => Buffer.byteLength(join(folder, `.s.PGSQL.${port}`));
  if (length(dataFolder) <= MAX_SOCKET_PATH_BYTES) return dataFolder;
  const digest = createHash('sha256').update(dataFolder).digest('hex').slice(0, 16);
  const candidates = [join(tmpdir(), `ductor-${digest}`), `/tmp/ductor-${digest}`];
  const folder = candidates.find((candidate) => length(candidate) <= MAX_SOCKET_PATH_BYTES);
  if (folder === undefined) {
    throw new DuctorError('embedded_database_failed', `no folder is short enough for a unix socket of ${dataFolder}`);
  }
  try {
    mkdirSync(folder, { mode: 0o700 });
    giveTo(identity, folder);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  // Anyone may make folders in the temp folder; ours must be ours, or another user could answer on the socket.
  const { uid, mode } = lstatSync(folder);
  if (uid !== processUid(identity) || (mode & 0o077) !== 0 || !lstatSync(folder).isDirectory()) {
    throw new DuctorError('embedded_database_failed', `${folder} belongs to another user or is open to others`);
  }
  return folder;
}
