/** The tools that `npm run verify` runs go red when they must: on the fixtures, and on trees made for the purpose. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { FIXTURE_ROOT } from './fixtures.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Outcome of a tool: its exit status and everything it printed. */
interface Outcome {
  readonly status: number | null;
  readonly output: string;
}

/** Runs a tool of node_modules in the project's root. */
function run(script: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Outcome {
  const { VITEST: _nested, ...outer } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'node_modules', script), ...args], {
    cwd: ROOT,
    env: { ...outer, NO_COLOR: '1', ...env },
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

const lint = (path: string): Outcome => run('oxlint/bin/oxlint', ['--format=unix', join(FIXTURE_ROOT, path)]);

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A small project on disk with the files; returns its folder. */
function project(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'ductor-house-'));
  made.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Runs the style test itself, as verify does, on another tree. */
const style = (root: string): Outcome =>
  run('vitest/vitest.mjs', ['run', 'test/house/house.test.ts'], { DUCTOR_HOUSE_ROOT: root });

const fixture = (path: string): string => readFileSync(join(FIXTURE_ROOT, path), 'utf8');

describe('oxlint with the configuration of the project', () => {
  test.each([
    ['any.ts', 'no-explicit-any'],
    ['non-null.ts', 'no-non-null-assertion'],
    ['floating-promise.ts', 'no-floating-promises'],
    ['misused-promise.ts', 'no-misused-promises'],
    ['switch.ts', 'switch-exhaustiveness-check'],
    ['throw-text.ts', 'only-throw-error'],
    ['../cycle/one.ts', 'no-cycle'],
    ['../workflow/machine/clock.ts', 'no-restricted-globals'],
    ['../workflow/machine/timer.ts', 'no-restricted-globals'],
    ['../workflow/machine/process.ts', 'no-restricted-globals'],
    ['../workflow/machine/dice.ts', 'no-restricted-properties'],
    ['../expressions/io.ts', 'no-restricted-imports'],
    ['../kernel/process.ts', 'no-restricted-imports'],
  ])('%s turns it red by %s', (path, rule) => {
    const { status, output } = lint(join('engine/src/store', path));
    expect(output).toContain(rule);
    expect(status).toBe(1);
  });

  test('an adapter of the kernel may ask the machine', () => {
    expect(lint('engine/src/kernel/system-allowed.ts').status).toBe(0);
  });
});

describe('the style test', () => {
  const good = { 'engine/src/kernel/good.test.ts': '', 'engine/src/store/ids.ts': '/** Says nothing. */\nvoid 0;\n' };

  test('a good tree leaves it green', () => {
    const { status, output } = style(project(good));
    expect(output).toContain('3 passed');
    expect(status).toBe(0);
  });

  test.each([
    [
      'a wrong-way import',
      'engine/src/kernel/up.ts',
      fixture('engine/src/kernel/imports-upwards.ts'),
      'import-direction',
    ],
    ['an any', 'engine/src/store/any.ts', fixture('engine/src/store/any.ts'), 'any: 1 in'],
    ['a 401-line file', 'engine/src/store/long.ts', '// line\n'.repeat(401), 'file-length'],
    ['a bare Error', 'engine/src/store/fail.ts', fixture('engine/src/store/bare-error.ts'), 'bare-error'],
  ])('%s turns it red', (_name, path, text, rule) => {
    const { status, output } = style(project({ ...good, [path]: text }));
    expect(output).toContain(rule);
    expect(status).toBe(1);
  });
});

describe('verify', () => {
  const readJson = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

  test('runs these checks, among them oxlint and the tests with the style test', () => {
    expect(readJson('package.json')).toMatchObject({
      scripts: {
        verify: 'node scripts/verify.mjs',
        lint: expect.stringMatching(/^oxlint /),
        test: expect.stringContaining('vitest run'),
      },
    });
    expect(readJson('scripts/verify-steps.json')).toEqual(
      'generate:check proto:lint proto:breaking format:check lint typecheck build test'.split(' '),
    );
  });

  test('generated code that was edited turns generate:check red', { timeout: 180_000 }, () => {
    const folder = project({});
    for (const path of ['engine/src/gen', 'sdk/src/gen', 'docs/openapi.json']) {
      cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    }
    appendFileSync(join(folder, 'sdk/src/gen/ductor/v1/run.ts'), '\n');
    writeFileSync(join(folder, 'engine/src/gen/extra.ts'), '');
    const { status, output } = run('../scripts/generate.mjs', ['--root', folder, '--check']);
    // These and no other: of what was not edited it says nothing.
    const found = output.split('\n').filter((line) => line.includes(': '));
    expect(found.slice(0, -1).sort()).toEqual([
      'engine/src/gen: not generated any more: extra.ts',
      'sdk/src/gen: differs: ductor/v1/run.ts',
    ]);
    expect(status).toBe(1);
  });

  describe('proto:breaking', () => {
    const note = (field: string): string => `syntax = "proto3";\npackage ductor.v1;\nmessage Note {\n  ${field}\n}\n`;

    /** A project with the contract committed on main, unless git is left out. */
    function contract(git: boolean): string {
      const folder = project({ 'proto/ductor/v1/note.proto': note('string text = 1;') });
      const google = 'node_modules/protobufjs/google/api';
      for (const path of ['buf.yaml', google]) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
      const identity = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
      const commands = [
        ['init', '-q', '-b', 'main'],
        ['add', 'proto'],
        [...identity, 'commit', '-q', '-m', 'Add'],
      ];
      for (const args of git ? commands : []) spawnSync('git', args, { cwd: folder });
      return folder;
    }

    const breaking = (folder: string, field: string): Outcome => {
      writeFileSync(join(folder, 'proto/ductor/v1/note.proto'), note(field));
      return run('../scripts/proto-breaking.mjs', ['--root', folder], { GIT_CEILING_DIRECTORIES: tmpdir() });
    };

    test('a new field is green, a changed type turns it red', () => {
      const folder = contract(true);
      expect(breaking(folder, 'string text = 1;\n  bool is_new = 2;')).toMatchObject({ status: 0 });
      const { status, output } = breaking(folder, 'uint32 text = 1;');
      expect(output).toContain('changed type');
      expect(status).not.toBe(0);
    });

    test('without git there is nothing to compare with, and it says so', () => {
      const { status, output } = breaking(contract(false), 'uint32 text = 1;');
      expect(output).toContain('no branch main');
      expect(status).toBe(0);
    });
  });
});
