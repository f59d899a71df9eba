/**
 * Where the data of databases of tests stands: in memory where the machine has a file system for that with room, else
 * among the temporary files. What a test proves stays the same, because killing a process takes nothing from either;
 * commits wait for no disk (docs/decisions/0026-test-lane.md).
 */
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const IN_MEMORY = '/dev/shm';
/** What statfs calls tmpfs. */
const TMPFS = 0x0102_1994;
/** A server's write-ahead log alone may take 1 GiB. */
const ROOM_BYTES = 4 * 1024 ** 3;

let folder: string | undefined;

function chosen(): string {
  try {
    const { type, bavail, bsize } = statfsSync(IN_MEMORY);
    return type === TMPFS && bavail * bsize >= ROOM_BYTES ? IN_MEMORY : tmpdir();
  } catch {
    // There is none.
    return tmpdir();
  }
}

/** Absolute path of an existing folder; the same for the whole process. */
export function fastFolder(): string {
  folder ??= chosen();
  return folder;
}
