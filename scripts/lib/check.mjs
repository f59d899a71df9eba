// Runs one check as a process, shows its output and how long it took, and says how many passed and failed.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countReport, failuresOf, readReport } from './report.mjs';
import { ROOT, toolEnv } from './tool.mjs';

const MINUTE_MS = 60_000;

/** Seconds with one digit, for people. */
export function seconds(sinceMs) {
  return `${((Date.now() - sinceMs) / 1000).toFixed(1)} s`;
}

/**
 * Runs a command in its own process group, so that a limit can end everything it started. Output goes to our own.
 *
 * @returns {Promise<number>} the exit status; 124 when the limit was reached, 127 when it could not be started
 */
function runLimited(command, args, env, limitMs) {
  return new Promise((resolve) => {
    const isPosix = process.platform !== 'win32';
    const stdio = ['ignore', 'inherit', 'inherit'];
    const child = spawn(command, args, { cwd: ROOT, env: toolEnv(env), stdio, detached: isPosix, shell: !isPosix });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      console.error(`ended after ${limitMs / MINUTE_MS} minutes`);
      if (isPosix && child.pid) process.kill(-child.pid, 'SIGKILL');
      else child.kill('SIGKILL');
    }, limitMs);
    const end = (status) => {
      clearTimeout(timer);
      resolve(isLate ? 124 : status);
    };
    child.on('error', () => end(127));
    child.on('exit', (status) => end(status ?? 1));
  });
}

/**
 * Runs a check. One that ends in vitest (isVitest) gets arguments for a JSON report and counts test by test; any other
 * counts as one.
 *
 * @param {object} check
 * @param {string} check.name how to call it in the output
 * @param {string} check.command a program of node_modules or of the machine
 * @param {string[]} check.args
 * @param {Record<string, string>} [check.env] added to ours
 * @param {boolean} [check.isVitest] whether the arguments may be followed by vitest's
 * @param {number} [check.limitMinutes] when it is ended
 * @returns {Promise<{name: string, passed: number, failed: number, took: string, failures: string[]}>} failures: a line
 *   for each test that failed
 */
export async function runCheck({ name, command, args, env = {}, isVitest = false, limitMinutes = 10 }) {
  console.log(`\n=== ${name}`);
  const startMs = Date.now();
  const folder = mkdtempSync(join(tmpdir(), 'ductor-check-'));
  try {
    const report = join(folder, 'report.json');
    const asked = isVitest ? ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`] : [];
    const status = await runLimited(command, [...args, ...asked], env, limitMinutes * MINUTE_MS);
    const read = isVitest && existsSync(report) ? readReport(report) : undefined;
    const counted = read ? countReport(read) : { passed: 0, failed: 0 };
    if (status !== 0 && counted.failed === 0) counted.failed = 1;
    if (status === 0 && !isVitest) counted.passed = 1;
    if (counted.passed + counted.failed === 0) counted.failed = 1;
    const took = seconds(startMs);
    console.log(`=== ${name}: ${counted.failed === 0 ? 'passed' : 'FAILED'} in ${took}`);
    return { name, took, failures: read ? failuresOf(read, ROOT) : [], ...counted };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
