/** The SDK as npm would publish it: in an empty project it compiles under strict settings and runs. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT, startChild } from '../support/child.js';
import { type Engine, startEngine } from '../support/engine.js';
import { installSdk, packSdk, type Packed, reachable } from '../support/packed-app.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';

/** Everything strict there is, and the types of the libraries are checked as well. */
const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    lib: ['ES2023'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    verbatimModuleSyntax: true,
    skipLibCheck: false,
    outDir: 'dist',
    rootDir: 'src',
  },
  include: ['src'],
};

cleanUpProcesses();

let packed: Packed;
let app: string;
let engine: Engine;
beforeAll(async () => {
  packed = packSdk();
  app = scratchFolder('first');
  mkdirSync(join(app, 'src'));
  writeFileSync(join(app, 'package.json'), JSON.stringify({ type: 'module', dependencies: { zod: '*' } }));
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  cpSync(join(ROOT, 'test/e2e/packed/first-workflow.ts'), join(app, 'src/first-workflow.ts'));
  installSdk(app, packed, ['@types/node']);
  engine = await startEngine({ dataDir: join(scratchFolder('packed'), 'ductor') });
});

/** Compiles the app with this project's compiler. */
function compile(): { status: number | null; output: string } {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', '.'], { cwd: app, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

describe('the packed SDK', () => {
  it('holds code, types, manifest and licence, and no sources or tests', () => {
    expect(packed.files).toEqual(
      expect.arrayContaining(['package.json', 'LICENSE', 'dist/index.js', 'dist/index.d.ts']),
    );
    expect(packed.files.filter((path) => /\.test\.|^src\/|(?<!\.d)\.ts$|tsconfig/.test(path))).toEqual([]);
  });

  it('brings nothing of the engine', () => {
    expect(reachable(app, ['@ductor/sdk', 'zod'])).toEqual(['@ductor/sdk', 'zod']);
    expect(reachable(app, ['@ductor/engine', 'pg', 'pino', 'commander'])).toEqual([]);
  });

  it('compiles under strict settings, and refuses a wrong type', () => {
    expect(compile()).toEqual({ status: 0, output: '' });
    const file = join(app, 'src/first-workflow.ts');
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, source.replace('at: string }', 'at: Date }'));
    const { status, output } = compile();
    writeFileSync(file, source);
    expect(status).not.toBe(0);
    expect(output).toContain("Type 'string' is not assignable to type 'Date'");
  });

  it('runs a workflow', async () => {
    expect(compile().status).toBe(0);
    const env = { DUCTOR_ADDRESS: engine.address, DUCTOR_API_KEY: engine.apiKey };
    const child = startChild({ name: 'first workflow', args: ['dist/first-workflow.js'], cwd: app, env });
    const exit = await child.exited;
    expect(exit, child.output).toEqual({ code: 0, signal: null });
    expect(child.output).toContain('{"text":"hello Adahello Ada","at":"1970-01-01T00:00:00.000Z"}');
  });
});
