/** Reads the packages npm packs: gzip around tar (POSIX ustar with pax headers for long names). */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { gunzipSync } from 'node:zlib';

const BLOCK = 512;

/** A file of an archive. */
interface Entry {
  readonly path: string;
  readonly data: Buffer;
}

/** Writes the files of a package (which stand below "package/") into the folder. */
export function extractPackage(tarball: string, folder: string): void {
  for (const { path, data } of filesOf(gunzipSync(readFileSync(tarball)))) {
    const inside = normalize(path.replace(/^package\//, ''));
    if (inside.startsWith('..')) throw new Error(`${tarball} holds ${path}, which leads out of the folder`);
    const target = join(folder, inside);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, data);
  }
}

function filesOf(archive: Buffer): Entry[] {
  const files: Entry[] = [];
  let longName: string | undefined;
  for (let at = 0; at + BLOCK <= archive.length && archive.readUInt8(at) !== 0;) {
    const header = archive.subarray(at, at + BLOCK);
    const size = Number.parseInt(text(header, 124, 12), 8);
    const data = archive.subarray(at + BLOCK, at + BLOCK + size);
    const type = text(header, 156, 1);
    if (type === 'x') longName = /\d+ path=([^\n]*)\n/.exec(data.toString('utf8'))?.[1];
    if (type === '0' || type === '') {
      const prefix = text(header, 345, 155);
      files.push({ path: longName ?? `${prefix === '' ? '' : `${prefix}/`}${text(header, 0, 100)}`, data });
      longName = undefined;
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

/** A field: text up to its first zero byte. */
function text(header: Buffer, from: number, length: number): string {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? length : end).trim();
}
