import { describe, expect, test } from 'vitest';
import { FIXTURES, made } from './fixtures.js';
import { machineReads } from './rules/clock.js';
import { importCycles } from './rules/cycles.js';
import { deadExports } from './rules/dead-exports.js';
import { danglingImports, wrongImports } from './rules/directions.js';
import { documentation } from './rules/docs.js';
import { ruledOutUses } from './rules/glossary.js';
import { brokenLinks } from './rules/links.js';
import { longFiles, longFunctions, longLines } from './rules/size.js';
import { anyTypes, bareErrors, casts, castsPerKloc, nonNullAssertions } from './rules/types.js';
import { bannedWords, machinePaths, registryHosts } from './rules/words.js';
import type { Finding } from './source.js';

/** Where the findings are, as path:line. */
const places = (findings: readonly Finding[]): string[] => findings.map(({ path, line }) => `${path}:${line}`);

/** A function of so many lines, as text. */
const functionOf = (lines: number): string => `function long() {\n${'  work();\n'.repeat(lines - 2)}}\n`;

describe('size', () => {
  test('a file of 401 lines is red, one of 400 is not', () => {
    expect(longFiles(made('// line\n'.repeat(401)))).toHaveLength(1);
    expect(longFiles(made('// line\n'.repeat(400)))).toEqual([]);
  });

  test('a function of 61 lines is red, one of 60 is not', () => {
    expect(places(longFunctions(made(`\n${functionOf(61)}`)))).toEqual(['engine/src/store/made.ts:2']);
    expect(longFunctions(made(functionOf(60)))).toEqual([]);
  });

  test('an arrow function and a method count as functions', () => {
    expect(longFunctions(made(`const a = () => {\n${'work();\n'.repeat(59)}};`))).toHaveLength(1);
    expect(longFunctions(made(`class A {\n  b() {\n${'work();\n'.repeat(59)}}\n}`))).toHaveLength(1);
  });

  test('bodies of describe and test may be long in tests only, helpers not even there', () => {
    const block = `describe.each([1])('x', () => {\n${'work();\n'.repeat(70)}});`;
    expect(longFunctions(made(block, 'test/e2e/made.test.ts'))).toEqual([]);
    expect(longFunctions(made(block))).toHaveLength(1);
    expect(longFunctions(made(functionOf(61), 'test/e2e/made.test.ts'))).toHaveLength(1);
  });

  test('a line of 121 characters is red, one of 120 is not', () => {
    expect(places(longLines(made(`ok\n//${'x'.repeat(119)}\n`)))).toEqual(['engine/src/store/made.ts:2']);
    expect(longLines(made(`//${'x'.repeat(118)}\n`))).toEqual([]);
  });

  test('generated code is left alone', () => {
    expect(longFiles(made('// line\n'.repeat(401), 'engine/src/gen/a.ts'))).toEqual([]);
  });
});

describe('types', () => {
  test('any, non-null assertions and bare errors are found where they are', () => {
    expect(places(anyTypes(FIXTURES))).toEqual(['engine/src/store/any.ts:2']);
    expect(places(nonNullAssertions(FIXTURES))).toEqual(['engine/src/store/non-null.ts:2']);
    expect(places(bareErrors(FIXTURES))).toEqual(['engine/src/store/bare-error.ts:3']);
  });

  test('the word any in a text, and != are not found', () => {
    const text = `const any = 'any'; // any\nconst b = any !== 'x' && !any;\n`;
    expect([...anyTypes(made(text)), ...nonNullAssertions(made(text))]).toEqual([]);
  });

  test('tests may make bare errors, subclasses of Error are fine', () => {
    expect(bareErrors(made(`throw new Error('x');`, 'engine/src/store/made.test.ts'))).toEqual([]);
    expect(bareErrors(made(`class Own extends Error {}\nthrow new Own('x');`))).toEqual([]);
    expect(bareErrors(made(`const e = RangeError('x');`))).toHaveLength(1);
  });

  test('casts are counted, const assertions and renamed imports are not', () => {
    expect(places(casts(FIXTURES))).toEqual(['engine/src/store/casts.ts:4']);
    expect(castsPerKloc(made(`${'work();\n'.repeat(499)}use(a as B);\n`))).toBe(2);
    expect(castsPerKloc([])).toBe(0);
  });
});

describe('imports', () => {
  const found = wrongImports(FIXTURES);
  const messageIn = (path: string): string[] =>
    found.filter((each) => each.path === path).map(({ message }) => message);

  test.each([
    ['engine/src/kernel/imports-upwards.ts', 'kernel may not import store'],
    ['engine/src/bridge/reaches-inside.ts', 'reaches inside workflow'],
    ['engine/src/claims/sibling.ts', 'claims may not import pools'],
    ['engine/src/attic/index.ts', 'room attic has no height'],
    ['engine/src/store/undeclared.ts', 'left-pad is not declared'],
    ['bridge-example/src/imports.ts', 'bridge-example may not import pg'],
  ])('%s: %s', (path, message) => {
    expect(messageIn(path)).toEqual([expect.stringContaining(message)]);
  });

  test('the SDK may not import the engine, by path or by package', () => {
    expect(messageIn('sdk/src/imports-engine.ts')).toEqual(['sdk may not import engine', 'sdk may not import engine']);
  });

  test('imports downwards through an index are green', () => {
    expect(messageIn('engine/src/store/downwards.ts')).toEqual([]);
  });

  test('generated messages stop at api and bridge, the journal at workflow', () => {
    const wire = `import type { Run } from '../gen/ductor/v1/run.js';`;
    const journal = `import type { Tick } from '../gen/ductor/journal/v1/journal.js';`;
    expect(wrongImports(made(wire, 'engine/src/store/made.ts'))).toHaveLength(1);
    expect(wrongImports(made(journal, 'engine/src/bridge/made.ts'))).toHaveLength(1);
    expect(wrongImports(made(wire, 'engine/src/api/made.ts'))).toEqual([]);
    expect(wrongImports(made(journal, 'engine/src/workflow/made.ts'))).toEqual([]);
  });

  test('product code may not import test code', () => {
    expect(wrongImports(made(`import { a } from './testing/a.js';`))).toHaveLength(1);
  });

  test('main imports everything and nobody imports main; the command line imports wire', () => {
    const importing = (path: string, specifier: string): Finding[] =>
      wrongImports(made(`import '${specifier}';`, path));
    expect(importing('engine/src/main.ts', './cli/index.js')).toEqual([]);
    expect(importing('engine/src/main.ts', './wire.js')).toEqual([]);
    expect(importing('engine/src/cli/dev.ts', '../wire.js')).toEqual([]);
    expect(importing('engine/src/wire.ts', './main.js')).toHaveLength(1);
    expect(importing('engine/src/cli/dev.ts', '../main.js')).toHaveLength(1);
    expect(importing('engine/src/api/a.ts', '../config.js')).toHaveLength(1);
  });

  test('dynamic imports and import types are seen', () => {
    const texts = [`await import('../api/index.js');`, `type A = import('../api/index.js').A;`];
    for (const text of texts) expect(wrongImports(made(text))).toHaveLength(1);
  });

  test('a cycle of types is found in both its files, and only there', () => {
    expect(places(importCycles(FIXTURES))).toEqual(['engine/src/cycle/one.ts:0', 'engine/src/cycle/two.ts:0']);
  });

  test('an import that leads nowhere is found', () => {
    expect(danglingImports(made(`import './gone.js';`))).toHaveLength(1);
    expect(danglingImports(made(`import './made.js';`))).toEqual([]);
  });
});

describe('exports', () => {
  test('an export without a doc comment is found and counted', () => {
    const { exports, undocumented, share } = documentation(FIXTURES.filter(({ path }) => /undocumented/.test(path)));
    expect(places(undocumented)).toEqual(['engine/src/store/undocumented.ts:1']);
    expect({ exports, share }).toEqual({ exports: 2, share: 0.5 });
  });

  test('a plain comment is no doc comment, overloads count once', () => {
    expect(documentation(made(`/* no */\nexport const a = 1;`)).share).toBe(0);
    const overloads = `/** Both. */\nexport function a(b: 1): 1;\nexport function a(b: unknown) { return b; }`;
    expect(documentation(made(overloads))).toMatchObject({ exports: 1, share: 1 });
  });

  test('an export nobody imports is dead; by an index, a name, a namespace or its own signature it lives', () => {
    const types = `export interface Options {}\nexport const f = (o: Options) => o;`;
    const dead = `export const used = 1;\nexport const lost = 2;\n${types}`;
    const take = (text: string) => [...made(dead), { path: 'engine/src/store/index.ts', text }];
    expect(deadExports(take(`export { used, f } from './made.js';`)).map(({ line }) => line)).toEqual([2]);
    expect(deadExports(take(`export * from './made.js';`))).toEqual([]);
    expect(deadExports(made(dead), ['engine/src/store/made.ts'])).toEqual([]);
  });
});

describe('words', () => {
  test('marks of unfinished work and focused tests are found', () => {
    const marks = ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'];
    for (const mark of marks) expect(bannedWords(made(`// ${mark}: later\n`))).toHaveLength(1);
    for (const focus of ['on' + 'ly', 'sk' + 'ip']) expect(bannedWords(made(`test.${focus}('x')`))).toHaveLength(1);
    expect(bannedWords(made('hackathon, TODOS, it.skipIf(x)'))).toEqual([]);
  });

  test('paths of a machine and registry addresses are found', () => {
    expect(machinePaths(made(`/ho` + `me/ann/x`))).toHaveLength(1);
    const lock = `{ "res` + `olved": "https://registry.example/x.tgz" }`;
    expect(registryHosts(made(lock, 'package-lock.json'))).toHaveLength(1);
    expect(registryHosts(made(lock, 'docs/x.json'))).toEqual([]);
  });
});

describe('texts', () => {
  const glossary = {
    path: 'docs/glossary.md',
    text: '| word | is | not |\n| --- | --- | --- |\n| run | x | flow run, canceled |\n',
  };
  const uses = (text: string): Finding[] => ruledOutUses([glossary, ...made(text)]);

  test('words the glossary rules out are found in prose and names', () => {
    for (const text of ['a flow run', 'flowRunId', 'myFlowRun', 'FLOW_RUN', 'the canceled one'])
      expect(uses(`// ${text}`)).toHaveLength(1);
  });

  test('other words, longer words and the glossary itself are not', () => {
    expect(uses('// a run, a workflow run, workflowRun, WORKFLOW_RUN, cancelled, a flow runs')).toEqual([]);
    expect(ruledOutUses(made('// canceled'))).toEqual([]);
  });

  test('a link to a file that is not there is found, one to a file or folder is not', () => {
    const text = 'See [a](../b.md), [c](./), [d](gone.md#part), [e](https://example.org/x).';
    const files = [
      { path: 'docs/a.md', text },
      { path: 'b.md', text: '' },
    ];
    expect(brokenLinks(files).map(({ message }) => message)).toEqual(['docs/gone.md is not there']);
  });
});

describe('the machine', () => {
  test('clock, dice and timers are found, a conversion is not', () => {
    expect(machineReads(FIXTURES.filter(({ path }) => /machine-reads/.test(path)))).toHaveLength(4);
  });

  test('adapters, tests and the SDK may ask the machine', () => {
    for (const path of ['engine/src/kernel/system-clock.ts', 'engine/src/store/a.test.ts', 'sdk/src/a.ts']) {
      expect(machineReads(made('Date.now();', path))).toEqual([]);
    }
  });
});
