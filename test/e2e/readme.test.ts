/**
 * "First workflow" of README.md, literally: the files it tells to write compile and run against the packed SDK, the
 * lines it tells to type do what it says, and killing everything in the pause loses nothing. Only the pause is shorter.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Child, ROOT, startChild } from '../support/child.js';
import { installSdk, packSdk } from '../support/packed-app.js';
import { cleanUpProcesses } from '../support/processes.js';
import { readmeFiles, readmeLines, shellWords } from '../support/readme.js';
import { endEmbeddedPostgres, scratchFolder } from '../support/scratch.js';
import { until } from '../support/wait.js';

const CHAPTER = 'First workflow';
const BIN = join(ROOT, 'engine/bin/ductor.js');
const PAUSE_MS = 8_000;
const READY = z.object({ address: z.string(), api_key: z.string(), pid: z.number() });

cleanUpProcesses();

const folder = scratchFolder('readme');
const lines = readmeLines(CHAPTER);

/** Words behind `npx ductor` of the only line that begins so. */
function typed(beginning: string): readonly string[] {
  const found = lines.filter((line) => line.startsWith(`npx ductor ${beginning}`));
  expect(found, beginning).toHaveLength(1);
  return shellWords(found[0] ?? '').slice(2);
}

function ductor(name: string, words: readonly string[]): Child {
  return startChild({ name, args: [BIN, ...words], cwd: folder, env: { LANG: 'C.UTF-8' } });
}

let port = '0';

/** Types `npx ductor dev`, on a port of its own, and waits until the folder says that it is ready. */
async function dev(): Promise<Child> {
  const file = join(folder, '.ductor/ready.json');
  const engine = ductor('engine', [...typed('dev'), '--port', port]);
  await until(
    'the engine to be ready',
    () => existsSync(file) && READY.parse(JSON.parse(readFileSync(file, 'utf8'))).pid === engine.pid,
    { limitMs: 60_000, detail: () => engine.output },
  );
  port =
    READY.parse(JSON.parse(readFileSync(file, 'utf8')))
      .address.split(':')
      .at(-1) ?? '0';
  return engine;
}

/** What `npx tsx --env-file=.ductor/env FILE` does, without the process between. */
function tsx(file: string): Child {
  expect(lines.join('\n') + readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(
    `npx tsx --env-file=.ductor/env ${file}`,
  );
  return startChild({ name: file, args: ['--import', 'tsx', '--env-file=.ductor/env', file], cwd: folder });
}

const count = (text: string, part: string): number => text.split(part).length - 1;

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies: { zod: '*' } }));
  for (const [name, code] of readmeFiles(CHAPTER)) {
    writeFileSync(join(folder, name), code.replace("'30s'", `'${PAUSE_MS}ms'`));
  }
  installSdk(folder, packSdk(), ['tsx', '@types/node']);
});
afterAll(() => endEmbeddedPostgres(join(folder, '.ductor')));

describe('the first workflow of the README', () => {
  it('compiles under strict settings', () => {
    const options = {
      ...{ target: 'ES2022', module: 'NodeNext', moduleResolution: 'NodeNext', types: ['node'], strict: true },
      ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
    };
    const files = [...readmeFiles(CHAPTER).keys()];
    expect(files).toEqual(['worker.ts', 'trigger.ts']);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', '.'], { cwd: folder, encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  it('goes on where it was after everything was killed in the pause', async () => {
    const [engine, worker] = [await dev(), tsx('worker.ts')];
    await until('the workflow to be published', () => ductorSays('workflow list', 'greeting'));
    const watch = ductor('watch', typed('run trigger'));
    await until('the pause', () => watch.output.includes('pause  WAITING'), { detail: () => watch.output });
    expect(worker.output).toContain('greet: writing to Ada');

    await Promise.all([engine.kill(), worker.kill()]);
    await until('the watcher to notice', () => watch.output.includes('engine  GONE'), { detail: () => watch.output });
    const [again, workerAgain] = [await dev(), tsx('worker.ts')];
    const exit = await watch.exited;
    expect(exit, `${watch.output}\n${again.output}\n${workerAgain.output}`).toEqual({ code: 0, signal: null });

    expect(watch.output).toMatch(/run {2}COMPLETED\n\{"sent":"Hello, Ada!"\}/);
    const bodies = worker.output + workerAgain.output;
    expect([count(bodies, 'greet: writing to Ada'), count(bodies, 'send: Hello, Ada!')]).toEqual([1, 1]);
    const id = /started ([0-9a-f-]{36})/.exec(watch.output)?.[1] ?? '';
    const at = (fact: RegExp, output: string): number => Date.parse(fact.exec(output)?.[1] ?? '');
    const history = await outcome(typed('run history').map((word) => (word === 'RUN' ? id : word)));
    const began = at(/(\S+ \S+)Z +step_waiting/, history);
    const pausedMs = at(/(\S+ \S+)Z +step_completed +pause/, history) - began;
    expect(pausedMs).toBeGreaterThanOrEqual(PAUSE_MS);

    expect(await outcome(typed('run list'))).toContain(id);
    expect(await outcome(typed('doctor'))).toMatch(/ 0 FAIL\n$/);
    const trigger = tsx('trigger.ts');
    expect(await trigger.exited, trigger.output).toEqual({ code: 0, signal: null });
    expect(trigger.output).toContain("{ sent: 'Hello, Grace!' }");
    expect(await again.stop(), again.output).toEqual({ code: 0, signal: null });
    expect(existsSync(join(folder, '.ductor/ready.json'))).toBe(false);
  });
});

/** Output of a command that must end well. */
async function outcome(words: readonly string[]): Promise<string> {
  const child = ductor(words.join(' '), words);
  const exit = await child.exited;
  expect(exit, child.output).toEqual({ code: 0, signal: null });
  return child.output;
}

async function ductorSays(words: string, text: string): Promise<boolean> {
  return (await outcome(words.split(' '))).includes(text);
}
