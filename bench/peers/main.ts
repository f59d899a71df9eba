/** `npm run bench`: Ductor beside DBOS and Restate, in one run on one machine. See docs/performance.md. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { dbos } from './dbos.js';
import { ductor } from './ductor.js';
import { judge } from './goals.js';
import { type BenchOptions, USAGE, UsageError, readOptions } from './options.js';
import type { Peer } from './peer.js';
import { BENCH, RESULTS } from './places.js';
import { build, installPeers } from './prepare.js';
import { readProfile, summarise } from './profile.js';
import { restate } from './restate.js';
import type { Results } from './results.js';
import { type BenchRun, profileAll, runBench } from './run-bench.js';
import { type BenchServer, openServer } from './server.js';
import { goalLines, table } from './table.js';
import { workloadOf } from './workloads/index.js';

const TOP_FUNCTIONS = 25;
const TOP_PARTS = 12;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** What the machine is, for the record. */
function machine(server: BenchServer): Readonly<Record<string, unknown>> {
  const [first] = cpus();
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: cpus().length,
    cpu: first?.model,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    loadBefore: loadavg(),
    postgres: { version: server.version, embedded: server.embedded, settings: server.settings },
  };
}

/** The engines to measure, Ductor first. */
async function peersOf(options: BenchOptions, server: BenchServer, folder: string): Promise<readonly Peer[]> {
  const peers: Peer[] = [];
  for (const name of options.peers) {
    if (name === 'ductor') peers.push(await ductor(server, folder));
    if (name === 'dbos') peers.push(dbos(server));
    if (name === 'restate') peers.push(restate(folder));
  }
  return peers;
}

/** Prints the most expensive functions and parts of the engine. */
function printProfiles(files: ReadonlyMap<string, string>): void {
  for (const [id, file] of files) {
    const { wallMs, busyShare, functions, parts } = summarise(readProfile(file));
    console.log(
      `\nEngine under ${id}: busy ${(busyShare * 100).toFixed(0)} % of ${(wallMs / 1000).toFixed(1)} s (${file})`,
    );
    const print = (of: typeof parts): void => {
      for (const { name, ms, share } of of)
        console.log(`${(share * 100).toFixed(1).padStart(6)} % ${ms.toFixed(0).padStart(7)} ms  ${name}`);
    };
    print(parts.slice(0, TOP_PARTS));
    console.log('');
    print(functions.slice(0, TOP_FUNCTIONS));
  }
}

function printResults({ options, peers, server }: BenchRun, results: Results): void {
  const settings = Object.entries(server.settings).map(([name, value]) => `${name} ${value}`);
  const { node, cores, platform } = machine(server);
  console.log(`\nNode ${String(node)}, ${String(platform)}, ${String(cores)} cores`);
  console.log(`PostgreSQL ${server.version}${server.embedded ? ', embedded' : ''}: ${settings.join(', ')}`);
  console.log(`Medians of ${options.reps}, loops of ${options.seconds} s; * disturbed by other programs\n`);
  console.log(table(results, options.workloads.map(workloadOf), peers));
  console.log(`\nGoals:\n${goalLines(judge(results))}`);
}

async function measure(options: BenchOptions): Promise<void> {
  if (options.peers.length > 1) installPeers();
  if (!options.skipBuild) build();
  const parent = resolve(options.dataDir ?? join(BENCH, '.ductor'));
  const startedAt = new Date().toISOString().replaceAll(':', '-').slice(0, 19);
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  mkdirSync(RESULTS, { recursive: true });
  const server = await openServer(process.env['DATABASE_URL'], folder);
  try {
    const before = machine(server);
    const run: BenchRun = { options, peers: await peersOf(options, server, folder), server, folder, say };
    const results = await runBench(run);
    const after = { loadAfter: loadavg() };
    const file = join(RESULTS, `${startedAt}.json`);
    writeFileSync(
      file,
      `${JSON.stringify({ startedAt, options, machine: { ...before, ...after }, ...results }, null, 1)}\n`,
    );
    printResults(run, results);
    console.log(`\n${file}`);
    if (options.profile) {
      const profiles = join(RESULTS, startedAt);
      mkdirSync(profiles);
      printProfiles(await profileAll(run, profiles));
    }
    if (results.repetitions.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
  } finally {
    await server.close();
  }
}

// So that what stands in exit handlers is done: every process that was started is ended.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) console.log(USAGE);
  else await measure(options);
} catch (error) {
  if (error instanceof UsageError) say(`${error.message}\n\n${USAGE}`);
  else say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(error instanceof UsageError ? 2 : 1);
}
process.exit(process.exitCode ?? 0);
