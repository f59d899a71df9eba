// Counts what vitest's JSON report says.
import { readFileSync } from 'node:fs';

/** The report as an object; an empty one when the file holds no JSON, as after a crash. */
export function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

/**
 * Passed and failed tests of a report. A file that failed without a failing test (it does not compile, a hook threw)
 * counts as one failure, and so does a report that calls itself unsuccessful without any (an unhandled rejection).
 *
 * @returns {{passed: number, failed: number}}
 */
export function countReport({ testResults = [], success = false }) {
  let passed = 0;
  let failed = 0;
  for (const { status, assertionResults = [] } of testResults) {
    const failing = assertionResults.filter((each) => each.status === 'failed').length;
    passed += assertionResults.filter((each) => each.status === 'passed').length;
    failed += status === 'failed' ? Math.max(failing, 1) : failing;
  }
  if (!success && failed === 0) failed = 1;
  return { passed, failed };
}

/**
 * One line for each failure of a report: the file below the root, the test's full name, the first line of its message.
 * The end of a long output is what people see of it, so they stand there again.
 *
 * @returns {string[]}
 */
export function failuresOf({ testResults = [] }, root) {
  const firstLine = (text) => (text ?? '').split('\n', 1)[0].slice(0, 300);
  return testResults.flatMap(({ name, status, message, assertionResults = [] }) => {
    const file = name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name;
    const failing = assertionResults.filter((each) => each.status === 'failed');
    if (status === 'failed' && failing.length === 0) return [`${file}: ${firstLine(message)}`];
    return failing.map((each) => `${file} > ${each.fullName}: ${firstLine(each.failureMessages?.[0])}`);
  });
}
