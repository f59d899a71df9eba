import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../connect/index.js';
import { killTree, until } from '../testing/child-process.js';
import { fastFolder } from '../testing/fast-folder.js';
import { copyWithoutLinks } from '../testing/package-copy.js';
import { seedDataDir } from '../testing/seed-data.js';
import { startEmbeddedPostgres, type EmbeddedOptions, type EmbeddedPostgres } from './index.js';
import { isProcessAlive } from './postmaster-pid.js';

const isRoot = process.getuid?.() === 0;
const folders: string[] = [];
const servers: EmbeddedPostgres[] = [];

/** A new folder that is removed after the test. */
function newFolder(parent = fastFolder()): string {
  const folder = mkdtempSync(join(parent, 'embedded-'));
  folders.push(folder);
  return folder;
}

/** A new folder with a database in it. */
async function newDatabase(): Promise<string> {
  const folder = newFolder();
  await seedDataDir(folder);
  return folder;
}

/** Starts a server that is stopped after the test. */
async function start(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(options);
  servers.push(server);
  return server;
}

/** Runs one statement. */
async function ask(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const db = openDatabase({ url });
  try {
    return (await db.query(text)).rows;
  } finally {
    await db.close();
  }
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe('startEmbeddedPostgres', () => {
  it('keeps its data, its safety settings and its collation', async () => {
    const dataDir = newFolder();
    const first = await start({ dataDir });
    expect(first.adopted).toBe(false);
    await ask(first.url, 'create table kept as select 1 as n');
    expect(await first.stop()).toBe(true);
    expect(isProcessAlive(first.pid)).toBe(false);

    const second = await start({ dataDir });
    expect(second.adopted).toBe(false);
    expect(await ask(second.url, 'select n from kept')).toEqual([{ n: 1 }]);
    expect(
      await ask(second.url, "select current_setting('fsync') as f, current_setting('listen_addresses') as l"),
    ).toEqual([{ f: 'on', l: '' }]);
    expect(await ask(second.url, 'select datlocprovider as p, datlocale as l from pg_database where oid = 1')).toEqual([
      { p: 'b', l: 'C.UTF-8' },
    ]);
    expect(statSync(join(dataDir, 'pgdata')).mode & 0o777).toBe(0o700);
    expect(readdirSync(dataDir).filter((name) => name.includes('.init-'))).toEqual([]);
  });

  it('adopts a running server; who leaves last turns it off', async () => {
    const dataDir = await newDatabase();
    const first = await start({ dataDir });
    const second = await start({ dataDir });
    expect([second.adopted, second.pid, second.url]).toEqual([true, first.pid, first.url]);
    const db = openDatabase({ url: second.url });
    await db.query('select 1');
    expect(await first.stop()).toBe(false);
    expect((await db.query<{ n: number }>('select 2 as n')).rows).toEqual([{ n: 2 }]);
    await db.close();
    expect(await second.stop()).toBe(true);
    expect(isProcessAlive(first.pid)).toBe(false);
  });

  it('makes one server of many starts at once on a new folder', async () => {
    const dataDir = newFolder();
    const all = await Promise.all([1, 2, 3].map(() => start({ dataDir })));
    expect(new Set(all.map(({ pid }) => pid)).size).toBe(1);
    expect(all.filter(({ adopted }) => !adopted)).toHaveLength(1);
    expect(readdirSync(dataDir).sort()).toEqual(['pgdata', 'postgres.log']);
  });

  it('brings a killed server up again on the same url', async () => {
    const server = await start({ dataDir: await newDatabase() });
    await ask(server.url, 'create table kept as select 1 as n');
    const killed = server.pid;
    killTree(killed);
    await until(() => server.pid !== killed, 'the restart');
    expect(await ask(server.url, 'select n from kept')).toEqual([{ n: 1 }]);
  });

  it('listens on TCP with a password that it keeps', async () => {
    const dataDir = newFolder();
    const first = await start({ dataDir, transport: 'tcp' });
    expect(await ask(first.url, 'select inet_server_addr()::text as a')).toEqual([{ a: '127.0.0.1/32' }]);
    await expect(ask(first.url.replace(/:[0-9a-f]+@/, ':wrong@'), 'select 1')).rejects.toThrow('password');
    const second = await start({ dataDir, transport: 'tcp' });
    expect(second.url).toBe(first.url);
    await first.stop();
    const third = await start({ dataDir, transport: 'tcp' });
    expect(await ask(third.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await second.stop();
    expect(statSync(join(dataDir, 'password')).mode & 0o777).toBe(0o600);
  });

  it('takes a path that is too long for a unix socket', async () => {
    const dataDir = join(newFolder(), 'a'.repeat(60), 'b'.repeat(60));
    const server = await start({ dataDir });
    expect(await ask(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    const host = new URL(server.url).searchParams.get('host') ?? '';
    expect(Buffer.byteLength(join(host, '.s.PGSQL.5432'))).toBeLessThanOrEqual(107);
    expect(statSync(host).mode & 0o777).toBe(0o700);
    expect(await server.stop()).toBe(true);
    expect(existsSync(host)).toBe(false);
  });

  it.runIf(isRoot)('works under a folder that only root can enter, binaries included', async () => {
    const closed = newFolder(tmpdir());
    chmodSync(closed, 0o700);
    const cacheFolder = newFolder(tmpdir());
    chmodSync(cacheFolder, 0o755);
    const nativeFolder = copyWithoutLinks(join(closed, 'package'));
    const dataDir = join(closed, 'data');
    const server = await start({ dataDir, nativeFolder, cacheFolder });
    expect(await ask(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(readdirSync(cacheFolder)).toHaveLength(1);
    killTree(server.pid);
    const again = await start({ dataDir, nativeFolder, cacheFolder });
    expect(await ask(again.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  it('starts over the file of a server whose number another program has now', async () => {
    const dataDir = await newDatabase();
    const identity = isRoot ? { uid: 65534, gid: 65534 } : {};
    const other = spawn('/bin/sleep', ['60'], identity);
    try {
      const folder = join(dataDir, 'pgdata');
      writeFileSync(join(folder, 'postmaster.pid'), `${other.pid}\n${folder}\n1\n5432\n${folder}\n\n 1 1\nready   \n`);
      const lines: string[] = [];
      const second = await start({ dataDir, log: (line) => lines.push(line) });
      expect(second.adopted).toBe(false);
      expect(lines[0]).toContain('is not PostgreSQL');
    } finally {
      other.kill('SIGKILL');
    }
  });

  it('tells why the server does not start', async () => {
    const dataDir = await newDatabase();
    writeFileSync(join(dataDir, 'pgdata', 'postgresql.conf'), 'no_such_setting = 1\n');
    await expect(start({ dataDir })).rejects.toMatchObject({
      code: 'embedded_database_failed',
      message: expect.stringContaining('no_such_setting'),
    });
  });

  it('refuses a package without binaries', async () => {
    const empty = newFolder();
    mkdirSync(join(empty, 'native'));
    await expect(start({ dataDir: newFolder(), nativeFolder: join(empty, 'native') })).rejects.toMatchObject({
      code: 'embedded_database_unsupported',
    });
  });
});
