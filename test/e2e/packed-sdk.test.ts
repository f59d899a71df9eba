/** The SDK as npm would publish it: in empty projects of both kinds it compiles under strict settings and runs. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT, startChild } from '../support/child.js';
import { type Engine, startEngine } from '../support/engine.js';
import { installSdk, packSdk, type Packed, reachable } from '../support/packed-app.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder, scratchFolder } from '../support/scratch.js';

/** Everything strict there is, and the types of the libraries are checked as well. */
const STRICT = {
  target: 'ES2022',
  lib: ['ES2023'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  skipLibCheck: false,
  outDir: 'dist',
  rootDir: 'src',
};

/** How an app may be written: as modules or as CommonJS, its imports resolved as any Node does or as the newest. */
const APPS = [
  { type: 'module', module: 'Node16', verbatimModuleSyntax: true },
  { type: 'module', module: 'NodeNext', verbatimModuleSyntax: true },
  { type: 'commonjs', module: 'Node16', verbatimModuleSyntax: false },
  { type: 'commonjs', module: 'NodeNext', verbatimModuleSyntax: false },
] as const;

cleanUpProcesses();

let packed: Packed;
let engine: Engine;
beforeAll(async () => {
  packed = packSdk();
  engine = await startEngine({ dataDir: dataFolder('packed') });
});

/** An app in a folder of its own that has the packed SDK and what it declares, and nothing else. */
function makeApp({ type, module, verbatimModuleSyntax }: (typeof APPS)[number]): string {
  const app = scratchFolder(`first-${type}`);
  const compilerOptions = { ...STRICT, module, moduleResolution: module, verbatimModuleSyntax };
  mkdirSync(join(app, 'src'));
  writeFileSync(join(app, 'package.json'), JSON.stringify({ type, dependencies: { zod: '*' } }));
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  for (const file of ['first-workflow.ts', 'first-test.ts', 'blocked-loop.ts'])
    cpSync(join(ROOT, 'test/e2e/packed', file), join(app, 'src', file));
  installSdk(app, packed, ['@types/node']);
  return app;
}

/** Compiles the app with this project's compiler. */
function compile(app: string): { status: number | null; output: string } {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', '.'], { cwd: app, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

/** Runs a script of the app, which must end well. Returns what it printed. */
async function runNode(app: string, args: readonly string[]): Promise<string> {
  const env = { DUCTOR_ADDRESS: engine.address, DUCTOR_API_KEY: engine.apiKey };
  const child = startChild({ name: 'app of the packed SDK', args, cwd: app, env });
  const exit = await child.exited;
  expect(exit, child.output).toEqual({ code: 0, signal: null });
  return child.output;
}

describe('the packed SDK', () => {
  it('holds code, types, manifest and licence, and no sources or tests', () => {
    const entries = ['index', 'testing/index', 'cjs/index', 'cjs/testing/index'].flatMap((entry) => [
      `dist/${entry}.js`,
      `dist/${entry}.d.ts`,
    ]);
    expect(packed.files).toEqual(expect.arrayContaining(['package.json', 'LICENSE', ...entries]));
    expect(packed.files.filter((path) => /\.test\.|^src\/|(?<!\.d)\.ts$|tsconfig/.test(path))).toEqual([]);
  });

  it('is one and the same for parts of an app that import it and parts that require it', async () => {
    const app = makeApp(APPS[0]);
    const script = `
      import { createRequire } from 'node:module';
      import * as imported from '@ductor/sdk';
      const required = createRequire(import.meta.url)('@ductor/sdk');
      const isSame = Object.keys(required).every((name) => imported[name] === required[name]);
      console.log(Object.keys(imported).length === Object.keys(required).length && isSame);`;
    writeFileSync(join(app, 'both.mjs'), script);
    expect(await runNode(app, ['both.mjs'])).toContain('true');
  });
});

describe.each(APPS)('an app of type $type with modules of $module', (form) => {
  let app: string;
  beforeAll(() => {
    app = makeApp(form);
  });

  it('gets nothing of the engine', () => {
    expect(reachable(app, ['@ductor/sdk', 'zod'])).toEqual(['@ductor/sdk', 'zod']);
    expect(reachable(app, ['@ductor/engine', 'pg', 'pino', 'commander'])).toEqual([]);
  });

  it('compiles under strict settings, and refuses a wrong type', () => {
    expect(compile(app)).toEqual({ status: 0, output: '' });
    const file = join(app, 'src/first-workflow.ts');
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, source.replace('at: string }', 'at: Date }'));
    const { status, output } = compile(app);
    writeFileSync(file, source);
    expect(status).not.toBe(0);
    expect(output).toContain("Type 'string' is not assignable to type 'Date'");
  });

  it.runIf(form.module === 'Node16')('gives signs of life while a body blocks the event loop', async () => {
    expect(compile(app).status).toBe(0);
    const printed = await runNode(app, ['dist/blocked-loop.js']);
    expect(printed).toContain('ended in attempt 1 after 10 s');
    expect(printed).toMatch(/"msg":"the event loop was blocked".*"steps":\["blocks\/compute"\]/);
  });

  it('runs a workflow', async () => {
    expect(compile(app).status).toBe(0);
    expect(await runNode(app, ['dist/first-workflow.js'])).toContain(
      '{"text":"hello Adahello Ada","at":"1970-01-01T00:00:00.000Z"}',
    );
  });

  it('runs a test of a workflow without an engine', async () => {
    expect(compile(app).status).toBe(0);
    expect(await runNode(app, ['dist/first-test.js'])).toContain('tested');
  });
});
