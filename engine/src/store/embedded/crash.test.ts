/** Kills: the engine alone, engine and server together, a first start in its middle; as root and as plain user. */
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../connect/index.js';
import { killTree, startChild, until, type ChildOptions, type EmbeddedChild } from '../testing/child-process.js';
import { fastFolder } from '../testing/fast-folder.js';
import { copyWithoutLinks } from '../testing/package-copy.js';
import { seedDataDir } from '../testing/seed-data.js';
import { readPostmaster } from './postmaster-pid.js';

const isRoot = process.getuid?.() === 0;
/** Who a plain user is in these tests: daemon. Not 65534, which a root engine uses; initdb wants a user with a name. */
const PLAIN_UID = 1;
const folders: string[] = [];
const children: EmbeddedChild[] = [];

/** A new folder that is removed after the test, with the server in it. */
function newFolder(uid?: number, parent = fastFolder()): string {
  const folder = mkdtempSync(join(parent, 'crash-'));
  folders.push(folder);
  if (uid !== undefined) chownSync(folder, uid, uid);
  return folder;
}

/** A new folder with a database in it that the user may run. */
async function newDatabase(uid?: number): Promise<string> {
  const folder = newFolder(uid);
  await seedDataDir(folder, uid);
  return folder;
}

/** Starts a child that is killed after the test. */
function child(options: ChildOptions): EmbeddedChild {
  const started = startChild(options);
  children.push(started);
  return started;
}

/** Numbers of the rows that are stored. */
async function stored(url: string): Promise<Set<number>> {
  const db = openDatabase({ url });
  const { rows } = await db.query<{ n: number }>('select n from written');
  await db.close();
  return new Set(rows.map(({ n }) => n));
}

afterEach(async () => {
  for (const started of children.splice(0)) await started.kill();
  for (const folder of folders.splice(0)) {
    const found = readPostmaster(join(folder, 'pgdata'));
    if (found.state === 'alive') killTree(found.pid);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

/** Starts a writer and resolves once it was told of some committed rows. */
async function writing(options: Omit<ChildOptions, 'mode'>): Promise<EmbeddedChild> {
  const writer = child({ ...options, mode: 'write' });
  await writer.ready;
  const already = writer.acked.length;
  await until(() => writer.acked.length > already + 200, 'acknowledged rows');
  return writer;
}

describe.each([
  ['root engine', undefined, isRoot],
  ['plain user', isRoot ? PLAIN_UID : undefined, true],
])('%s', (_, uid, canRun) => {
  const as = uid === undefined ? {} : { uid };

  it.runIf(canRun)('loses no acknowledged row when engine and server are killed, three times', async () => {
    const dataDir = await newDatabase(uid);
    const acked: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const writer = await writing({ dataDir, ...as });
      const { pid, adopted } = await writer.ready;
      expect(adopted).toBe(false);
      writer.process.kill('SIGKILL');
      killTree(pid);
      await writer.kill();
      acked.push(...writer.acked);
    }
    const { url } = await child({ mode: 'start', dataDir, ...as }).ready;
    const rows = await stored(url);
    expect(acked.length).toBeGreaterThan(600);
    expect(acked.filter((n) => !rows.has(n))).toEqual([]);
  });

  it.runIf(canRun)('adopts the server of a killed engine at once', async () => {
    const dataDir = await newDatabase(uid);
    const writer = await writing({ dataDir, ...as });
    const { pid, uid: runsAs } = await writer.ready;
    expect(runsAs).toBe(uid ?? process.getuid?.());
    await writer.kill();
    const next = await child({ mode: 'start', dataDir, ...as }).ready;
    expect([next.pid, next.adopted]).toEqual([pid, true]);
    const rows = await stored(next.url);
    expect(writer.acked.filter((n) => !rows.has(n))).toEqual([]);
  });

  it.runIf(canRun)('links libraries itself when install scripts were blocked', async () => {
    const native = copyWithoutLinks(newFolder(undefined, tmpdir()));
    openFolders(native);
    const dataDir = newFolder(uid);
    const { url } = await child({ mode: 'start', dataDir, nativeFolder: native, ...as }).ready;
    const db = openDatabase({ url });
    expect((await db.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    await db.close();
    // The copy belongs to root: a plain user makes the links beside the data.
    const isReadOnly = isRoot && uid !== undefined;
    expect(existsSync(join(dataDir, 'lib'))).toBe(isReadOnly);
    expect(existsSync(join(native, 'lib', 'libicuuc.so.60'))).toBe(!isReadOnly);
  });
});

/** Lets everybody into the folder that holds the copy; mkdtemp made it 0700. */
function openFolders(native: string): void {
  chmodSync(join(native, '..'), 0o755);
}

describe('a first start that is killed', () => {
  it.each([
    ['with initdb', true],
    ['alone', false],
  ])('%s leaves nothing that stops the next one', async (_, withInitdb) => {
    const dataDir = newFolder();
    const first = child({ mode: 'start', dataDir });
    await until(() => unfinished(dataDir).some((name) => existsSync(join(dataDir, name, 'base'))), 'initdb');
    if (withInitdb) killInitdb(first);
    await first.kill();
    expect(existsSync(join(dataDir, 'pgdata'))).toBe(false);
    const { url } = await child({ mode: 'write', dataDir }).ready;
    await until(async () => (await stored(url).catch(() => new Set())).size > 0, 'rows');
    // The orphaned initdb of the second case may hold its folder for a moment longer.
    if (withInitdb) expect(unfinished(dataDir)).toEqual([]);
  });
});

/** Folders of unfinished first starts. */
function unfinished(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => name.includes('.init-'));
}

/** Kills the engine with the initdb it runs. */
function killInitdb(started: EmbeddedChild): void {
  if (started.process.pid !== undefined) killTree(started.process.pid);
}
