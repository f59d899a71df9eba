// `npm run verify`: everything CI checks, in one command. With --ci also what needs CI's machine: the suites of the
// store on a real PostgreSQL server and dumps of it, the bus on a real Redis server, more fuzz, the simulator's 2,000
// seeds, and another release of Node.js. Ends with one line, "N passed, N failed": every test of a vitest run counts as
// one, and so does every other check. Exits with 1 when something failed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCheck, seconds } from './lib/check.mjs';
import { otherNodeChecks } from './lib/other-node.mjs';
import { findPostgres } from './lib/postgres15.mjs';
import { ROOT } from './lib/tool.mjs';

/** Reads a JSON file of the project. */
const readJson = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

/** The check behind an npm script; `npm test` is the README's own command. */
function npmCheck(name) {
  if (name !== 'test') return { name, command: 'npm', args: ['run', '--silent', name] };
  return { name, command: 'npm', args: ['test', '--silent', '--'], isVitest: true, limitMinutes: 50 };
}

/** Folders of the store whose tests ask for a server; those of the embedded one have run with all the others. */
function storeFolders() {
  const entries = readdirSync(join(ROOT, 'engine/src/store'), { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory() && entry.name !== 'embedded').map(({ name }) => name);
  return names.map((name) => `engine/src/store/${name}/`);
}

/** Store and dumps on a real server; a check that fails when the machine has none. */
async function serverChecks() {
  const found = await findPostgres();
  const server = `PostgreSQL ${found ? Math.floor(found.version / 10_000) : '15'}`;
  if (!found) return [{ name: server, command: 'sh', args: ['-c', 'echo "no PostgreSQL server found"; exit 1'] }];
  const env = { DUCTOR_TEST_DATABASE_URL: found.url, DUCTOR_TEST_PG_DUMP: 'required' };
  const on = (name, args) => ({
    name: `${name} on ${server}`,
    command: 'vitest',
    args: ['run', ...args],
    env,
    isVitest: true,
  });
  return [on('store', storeFolders()), on('dump', ['--project', 'process', 'test/fault/backup.test.ts', '-t', 'dump'])];
}

/** The bus on a real Redis server; without one its tests, which `npm test` leaves out then, fail. */
function busCheck() {
  const env = { DUCTOR_TEST_REDIS: 'required' };
  return { name: 'bus on Redis', command: 'vitest', args: ['run', 'engine/src/bus/'], env, isVitest: true };
}

/** More inputs than `npm test` gives each target. */
function fuzzCheck() {
  const env = { DUCTOR_FUZZ_RUNS: '10000' };
  const args = ['run', 'test/fuzz/'];
  return { name: 'fuzz 9 x 10,000', command: 'vitest', args, env, isVitest: true };
}

/** What only CI runs. */
async function ciChecks() {
  const checks = [...(await serverChecks()), busCheck(), fuzzCheck()];
  if (readJson('package.json').scripts.simulate) {
    const args = ['run', '--silent', 'simulate', '--', '--seeds', '2000', '--require'];
    checks.push({ name: 'simulate 2,000 seeds', command: 'npm', args, limitMinutes: 20 });
  }
  checks.push(...otherNodeChecks());
  return checks;
}

const startMs = Date.now();
const checks = readJson('scripts/verify-steps.json').map(npmCheck);
if (process.argv.includes('--ci')) checks.push(...(await ciChecks()));

const results = [];
for (const check of checks) results.push(await runCheck(check));

console.log('\n=== all checks');
for (const { name, passed, failed, took, failures } of results) {
  console.log(
    `${failed === 0 ? 'passed' : 'FAILED'}  ${name.padEnd(24)} ${took.padStart(8)}  ${passed} passed, ${failed} failed`,
  );
  for (const failure of failures) console.log(`        ${failure}`);
}
const passed = results.reduce((sum, each) => sum + each.passed, 0);
const failed = results.reduce((sum, each) => sum + each.failed, 0);
console.log(`in ${seconds(startMs)}\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
