import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type CreatedDatabase } from '../testing/index.js';
import { MIGRATIONS_FOLDER, migrationFiles } from './migration-files.js';
import { migrate, type MigrationProgress } from './index.js';

let empty: CreatedDatabase;
let folder = '';
beforeEach(async () => {
  empty = await createTestDatabase({ isMigrated: false });
  folder = mkdtempSync(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  await empty.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes migrations to the folder of the test. */
function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.sql`), text);
}

const ONE = { '0001_one': '-- breaking: no\ncreate table ductor.one (n int);\n' };
const TWO = { '0002_two': '-- breaking: no\ncreate table ductor.two (n int);\n' };

describe('migrate', () => {
  it('applies the engine’s migrations, tells its progress, and does nothing the second time', async () => {
    const progress: MigrationProgress[] = [];
    const { applied } = await migrate({ url: empty.url, onProgress: (step) => progress.push(step) });
    const names = migrationFiles().map(({ name }) => name);
    expect(applied).toEqual(names);
    expect(progress.map(({ name }) => name)).toEqual([...names, '']);
    expect(progress.at(-1)).toEqual({ done: names.length, total: names.length, name: '' });
    expect(await migrate({ url: empty.url })).toEqual({ applied: [] });
  });

  it('lets many engines start at once: one migrates, all succeed', async () => {
    const reports = await Promise.all([1, 2, 3, 4].map(() => migrate({ url: empty.url })));
    expect(reports.filter(({ applied }) => applied.length > 0)).toHaveLength(1);
  });

  it('applies what came since, in a database that others use', async () => {
    write(ONE);
    await migrate({ url: empty.url, folder });
    await empty.db.query('insert into ductor.one values (1)');
    write(TWO);
    expect(await migrate({ url: empty.url, folder })).toEqual({ applied: ['0002_two'] });
  });

  it('applies nothing when one of several fails', async () => {
    write({ ...ONE, '0002_broken': '-- breaking: no\nselect no_such_column;\n' });
    await expect(migrate({ url: empty.url, folder })).rejects.toThrow('no_such_column');
    expect((await empty.db.query("select to_regclass('ductor.one') as found")).rows).toEqual([{ found: null }]);
    write({ '0002_broken': '-- breaking: no\nselect 1;\n' });
    expect((await migrate({ url: empty.url, folder })).applied).toEqual(['0001_one', '0002_broken']);
  });

  it('runs on the schema of a newer engine unless that is breaking', async () => {
    write({ ...ONE, ...TWO });
    await migrate({ url: empty.url, folder });
    rmSync(join(folder, '0002_two.sql'));
    expect(await migrate({ url: empty.url, folder })).toEqual({ applied: [] });
    write({ ...TWO, '0003_three': '-- breaking: yes\nselect 1;\n' });
    await migrate({ url: empty.url, folder });
    rmSync(join(folder, '0003_three.sql'));
    await expect(migrate({ url: empty.url, folder })).rejects.toMatchObject({
      code: 'database_version_unsupported',
      message: expect.stringContaining('0003_three'),
    });
  });

  it('refuses to slip a migration in before one that is applied', async () => {
    write({ ...ONE, '0003_three': '-- breaking: no\nselect 1;\n' });
    await migrate({ url: empty.url, folder });
    write(TWO);
    await expect(migrate({ url: empty.url, folder })).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('migrationFiles', () => {
  it.each([
    ['a bad name', { '1_x': '-- breaking: no\n' }, 'should be named'],
    ['no first line', { '0001_x': 'select 1;\n' }, 'must begin with'],
    ['a number twice', { '0001_x': '-- breaking: no\n', '0001_y': '-- breaking: no\n' }, 'share a number'],
  ])('refuses %s', (_, files, message) => {
    write(files);
    expect(() => migrationFiles(folder)).toThrow(message);
  });

  it('finds the engine’s own', () => {
    cpSync(MIGRATIONS_FOLDER, folder, { recursive: true });
    expect(migrationFiles(folder)).toEqual(migrationFiles());
    expect(migrationFiles()[0]?.name).toBe('0001_base');
  });
});
