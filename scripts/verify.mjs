// `npm run verify`: everything CI checks, in one command. With --ci also what needs CI's machine: every suite that
// holds SQL on a real PostgreSQL server and dumps of it, the bus and the tests of several nodes on a real Redis server,
// more fuzz, the simulator's 2,000 seeds, and another release of Node.js. Ends with one line, "N passed, N failed":
// every test of a vitest run counts as one, and so does every other check. Exits with 1 when something failed.
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

/**
 * Rooms and contracts whose tests ask PostgreSQL something, beside the store. Left out: the door's other ones, which
 * ask by the same statements, and those of rooms whose tests need no database.
 */
const SQL_SUITES = [
  'test/contract/',
  ...['store-postgres', 'registry', 'retention'].map((room) => `engine/src/workflow/${room}/`),
  ...['schedules', 'tenancy', 'capacity', 'bridge/endpoint'].map((room) => `engine/src/${room}/`),
  ...['claims', 'routing', 'runs'].map((room) => `engine/src/api/grpc/${room}/`),
];

/** Tests of several nodes, some of them processes, which hear of each other by the bus. */
const NODE_SUITES = [
  ...['coordinator-postgres', 'postgres-semaphores', 'postgres-signal-race'].map((name) => `test/contract/${name}`),
  ...['rolling-restart', 'queues'].map((name) => `test/fault/${name}`),
];

/** All that holds SQL, and dumps, on a real server; a check that fails when the machine has none. */
async function serverChecks() {
  const found = await findPostgres();
  const server = `PostgreSQL ${found ? Math.floor(found.version / 10_000) : '15'}`;
  if (!found) return [{ name: server, command: 'sh', args: ['-c', 'echo "no PostgreSQL server found"; exit 1'] }];
  const env = { DUCTOR_TEST_DATABASE_URL: found.url, DUCTOR_TEST_PG_DUMP: 'required' };
  const on = (name, args, more = {}) => ({
    name: `${name} on ${server}`,
    command: 'vitest',
    args: ['run', ...args],
    env: { ...env, ...more },
    isVitest: true,
    limitMinutes: 15,
  });
  return [
    on('store', storeFolders()),
    on('contracts', ['--project', 'unit', ...SQL_SUITES], { DUCTOR_REPLAY_DECISIONS: '500' }),
    on('dump', ['--project', 'process', 'test/fault/backup.test.ts', '-t', 'dump']),
  ];
}

/** The bus and several nodes on a real Redis server; without one these tests fail. */
function redisChecks() {
  const on = (name, args, env) => ({ name: `${name} on Redis`, command: 'vitest', args, env, isVitest: true });
  return [
    on('bus', ['run', 'engine/src/bus/'], { DUCTOR_TEST_REDIS: 'required' }),
    on('nodes', ['run', ...NODE_SUITES], { DUCTOR_TEST_REDIS: 'required', DUCTOR_TEST_BUS: 'redis' }),
  ];
}

/** Tests of which `npm test` goes through a part of the cases. */
const LONG_SUITES = [
  ...['stores-differ', 'routing-replay', 'postgres-mailbox-race'].map((name) => `test/contract/${name}`),
  ...['pools/schedule/business-time', 'routing/decisions/replay', 'expressions/differential'].map(
    (name) => `engine/src/${name}`,
  ),
  'test/contract/seats',
  'test/fault/admission',
];

/** All of their cases. */
function lengthCheck() {
  const env = { DUCTOR_TEST_LENGTH: 'full' };
  const args = ['run', ...LONG_SUITES];
  return { name: 'long tests in full', command: 'vitest', args, env, isVitest: true, limitMinutes: 20 };
}

/** More inputs than `npm test` gives each target. */
function fuzzCheck() {
  const env = { DUCTOR_FUZZ_RUNS: '10000' };
  const args = ['run', 'test/fuzz/'];
  return { name: 'fuzz 9 x 10,000', command: 'vitest', args, env, isVitest: true };
}

/** What only CI runs. */
async function ciChecks() {
  const checks = [...(await serverChecks()), ...redisChecks(), lengthCheck(), fuzzCheck()];
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
