/**
 * Runs the workloads. Engines take turns within each repetition (A B C A B C), so that a machine that grows slower or
 * faster does so for all; the yardstick is taken before each round and after the last.
 */
import { join } from 'node:path';
import type { BenchOptions } from './options.js';
import type { Peer } from './peer.js';
import type { RawSample, Repetition, Results } from './results.js';
import type { BenchServer } from './server.js';
import { workloadOf } from './workloads/index.js';
import type { Measuring, Sample, Workload } from './workloads/workload.js';

/** What is run, where, and who is told. */
export interface BenchRun {
  readonly options: BenchOptions;
  readonly peers: readonly Peer[];
  readonly server: BenchServer;
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** Disturbed repetitions of one engine under one workload that are done again. */
const AGAIN_MAX = 4;

/** Measures everything. */
export async function runBench(run: BenchRun): Promise<Results> {
  const repetitions: Repetition[] = [];
  const raw: RawSample[] = [];
  for (const id of run.options.workloads) {
    const workload = workloadOf(id);
    const yardstick = async (): Promise<void> => {
      const commitsPerS = await run.server.rawCommits();
      raw.push({ workload: id, commitsPerS });
      run.say(`${id} raw commits/s: ${commitsPerS}`);
    };
    const patience = new Map(run.peers.map(({ name }) => [name, AGAIN_MAX]));
    const reps = Math.min(run.options.reps, workload.repsMax ?? run.options.reps);
    for (let rep = 1; rep <= reps; rep += 1) {
      await yardstick();
      for (const peer of run.peers) repetitions.push(await repetition(run, workload, peer, { rep, patience }));
    }
    await yardstick();
  }
  return { repetitions, raw };
}

async function repetition(
  run: BenchRun,
  workload: Workload,
  peer: Peer,
  { rep, patience }: { readonly rep: number; readonly patience: Map<string, number> },
): Promise<Repetition> {
  const known = { workload: workload.id, peer: peer.name, rep };
  for (;;) {
    let sample: Sample;
    try {
      sample = await workload.measure(peer, measuring(run, undefined));
    } catch (error) {
      const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
      run.say(`${workload.id} ${peer.name} ${rep}: FAILED ${failure}`);
      return { ...known, values: {}, foreign: undefined, isDisturbed: false, failure };
    }
    const { values, foreign } = sample;
    const isDisturbed = (foreign ?? 0) > run.options.foreignMax;
    const left = patience.get(peer.name) ?? 0;
    const others = `foreign ${foreign?.toFixed(2) ?? '?'} cores`;
    run.say(`${workload.id} ${peer.name} ${rep}: ${short(workload, values)}, ${others}`);
    if (!isDisturbed || left === 0) return { ...known, values, foreign, isDisturbed, failure: undefined };
    patience.set(peer.name, left - 1);
    run.say('  other programs took too much: once more');
  }
}

/** The first three figures. */
function short({ rows }: Workload, values: Sample['values']): string {
  return rows
    .slice(0, 3)
    .map(({ key }) => `${key} ${values[key]?.toFixed(2) ?? '-'}`)
    .join(', ');
}

function measuring({ options, server, folder }: BenchRun, profilePrefix: string | undefined): Measuring {
  const { seconds, warmSeconds, scale } = options;
  return { seconds, warmSeconds, scale, postmaster: server.postmaster, folder, profilePrefix };
}

/** One more repetition of each workload of Ductor, profiled; its figures count nowhere. Returns files by workload. */
export async function profileAll(run: BenchRun, results: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const [first] = run.peers;
  if (first === undefined) return files;
  // Memory and kills are no matter of profiles.
  for (const id of run.options.workloads.filter((each) => each !== 'w5' && each !== 'w6')) {
    run.say(`${id}: profiling`);
    const prefix = join(results, id);
    await workloadOf(id).measure(first, measuring(run, prefix));
    files.set(id, `${prefix}-engine.cpuprofile`);
  }
  return files;
}
