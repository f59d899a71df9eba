/** The counting behind the last line of verify and CI. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MODULE = new URL('../../scripts/lib/report.mjs', import.meta.url).href;

/** Asks the script's own code about a report, in a process of its own: scripts are plain JavaScript. */
function ask(name: 'countReport' | 'failuresOf', report: unknown): unknown {
  const code = `import { ${name} } from '${MODULE}';
    console.log(JSON.stringify(${name}(${JSON.stringify(report)}, '/p')));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
  });
  return JSON.parse(stdout);
}

const count = (report: unknown): unknown => ask('countReport', report);

const file = (status: string, ...tests: string[]): unknown => ({
  status,
  assertionResults: tests.map((each) => ({ status: each })),
});

test('passed and failed tests are summed over files', () => {
  const testResults = [file('passed', 'passed', 'passed'), file('failed', 'passed', 'failed', 'failed')];
  expect(count({ success: false, testResults })).toEqual({ passed: 3, failed: 2 });
});

test('a file that does not load is a failure', () => {
  expect(count({ success: false, testResults: [file('passed', 'passed'), file('failed')] })).toEqual({
    passed: 1,
    failed: 1,
  });
});

test('an unsuccessful report without a failing test is a failure, and so is none at all', () => {
  expect(count({ success: false, testResults: [file('passed', 'passed')] })).toEqual({ passed: 1, failed: 1 });
  expect(count({})).toEqual({ passed: 0, failed: 1 });
});

test('tests that were left out count as nothing', () => {
  expect(count({ success: true, testResults: [file('passed', 'passed', 'pending')] })).toEqual({
    passed: 1,
    failed: 0,
  });
});

test('each failure has a line of its own for the end of the output', () => {
  const testResults = [
    {
      name: '/p/a.test.ts',
      status: 'failed',
      assertionResults: [
        { status: 'passed', fullName: 'a works', failureMessages: [] },
        { status: 'failed', fullName: 'a counts', failureMessages: ['Error: 1 is not 2\n    at line 3'] },
      ],
    },
    { name: '/p/b.test.ts', status: 'failed', message: 'no such module\nmore', assertionResults: [] },
  ];
  expect(ask('failuresOf', { testResults })).toEqual([
    'a.test.ts > a counts: Error: 1 is not 2',
    'b.test.ts: no such module',
  ]);
});
