/** The counting behind the last line of verify and CI. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MODULE = new URL('../../scripts/lib/report.mjs', import.meta.url).href;

/** Counts a report by the script's own code, in a process of its own: scripts are plain JavaScript. */
function count(report: unknown): unknown {
  const code = `import { countReport } from '${MODULE}';
    console.log(JSON.stringify(countReport(${JSON.stringify(report)})));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
  });
  return JSON.parse(stdout);
}

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
