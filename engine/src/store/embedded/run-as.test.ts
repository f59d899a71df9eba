import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { libraryEnv } from './library-env.js';
import { platformPackage } from './platform-package.js';
import { canReach, viewOf } from './run-as.js';

const NOBODY = { uid: 65534, gid: 65534 };
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'run-as-'));
  mkdirSync(join(folder, 'pgdata'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('viewOf', () => {
  it('names paths as they are where they can be reached', () => {
    chmodSync(folder, 0o755);
    expect(canReach(NOBODY, join(folder, 'pgdata'))).toBe(true);
    const view = viewOf(NOBODY, join(folder, 'pgdata'));
    expect([view.cwd, view.name('/x')]).toEqual(['/', '/x']);
    expect(viewOf(undefined, join(folder, 'pgdata')).cwd).toBe('/');
  });

  it('names paths from the working directory where a folder above is closed', () => {
    const data = join(folder, 'pgdata');
    expect(canReach(NOBODY, data)).toBe(false);
    const view = viewOf(NOBODY, data);
    expect(view.cwd).toBe(data);
    expect(view.name(data)).toBe('/proc/self/cwd');
    expect(view.name(join(folder, 'lib'))).toBe('/proc/self/cwd/../lib');
    expect(view.name('/usr/lib')).toBe('/usr/lib');
  });
});

describe('libraryEnv', () => {
  it('hands no secret of the engine and no PG setting on', () => {
    process.env['PGHOST'] = 'elsewhere';
    process.env['DUCTOR_SECRET_FOR_TEST'] = 'x';
    try {
      const view = viewOf(undefined, folder);
      const env = libraryEnv({ initdb: '', postgres: '', libraryFolders: ['/a', '/b'] }, view);
      expect(Object.keys(env).filter((name) => /^PG|DUCTOR/.test(name))).toEqual([]);
      expect(env['LD_LIBRARY_PATH'] ?? env['DYLD_LIBRARY_PATH']).toBe('/a:/b');
    } finally {
      delete process.env['PGHOST'];
      delete process.env['DUCTOR_SECRET_FOR_TEST'];
    }
  });
});

describe('platformPackage', () => {
  it.each([
    ['freebsd', 'x64'],
    ['linux', 'riscv64'],
    ['win32', 'arm64'],
  ])('refuses %s-%s and says what to do', (platform, arch) => {
    expect(() => platformPackage(platform, arch)).toThrow(
      expect.objectContaining({
        code: 'embedded_database_unsupported',
        message: expect.stringContaining(`${platform}-${arch}`),
        remedy: expect.stringContaining('DATABASE_URL'),
      }),
    );
  });

  it('says when the package of a platform is not installed', () => {
    const other = process.platform === 'win32' ? 'linux' : 'win32';
    expect(() => platformPackage(other, 'x64')).toThrow('is not installed');
  });
});
