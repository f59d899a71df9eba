/** What a slice came to: by the ledger of the bodies, by the journal row by row, by what the client was told. */
import { firstTickAfter } from '../support/cluster.js';
import { contradictions, readJournal } from '../support/journal.js';
import type { Marks } from '../support/chain.js';
import type { Cast } from './cast.js';
import type { Load } from './load.js';
import { type Landed, RESUME_LIMIT_MS } from './strike.js';

/** A tick carries the time at which it was computed, by an estimate of database time that may be off by so much. */
const CLOCK_MARGIN_US = 50_000;
/** Shards that a fault must have taken along for the next tick in them to say how fast they moved. */
const SHARDS_MIN = 16;

/** What is wrong, empty when nothing is, and figures. */
export interface Verdict {
  /** Acknowledged starts without a completed run. */
  readonly lost: readonly string[];
  /** Attempts with two outcomes, runs that closed twice, keys of two steps, steps with two keys. */
  readonly doubled: readonly string[];
  /** Runs that have not ended. */
  readonly stuck: readonly string[];
  /**
   * From the hit of an engine to the first tick in its shards, ms, in order of size; without those around which the
   * machine itself stood still.
   */
  readonly resumedMs: readonly number[];
  /** Runs that were acknowledged. */
  readonly runs: number;
  /** Bodies that began. */
  readonly bodies: number;
}

/** Steps whose keys are not one to one. */
function keysDoubled(marks: Marks): readonly string[] {
  const keysOf = new Map<string, number>();
  const doubled: string[] = [];
  for (const [key, steps] of marks.read().effects) {
    if (steps.size > 1) doubled.push(`key ${key} was that of ${[...steps].join(' and ')}`);
    for (const step of steps) keysOf.set(step, (keysOf.get(step) ?? 0) + 1);
  }
  for (const [step, keys] of keysOf) if (keys > 1) doubled.push(`${step} had ${keys} keys`);
  return doubled;
}

async function resumed(cast: Cast, load: Load, landed: readonly Landed[]): Promise<readonly number[]> {
  const took: number[] = [];
  for (const { engine, atMs } of landed) {
    if (engine === undefined || engine.shards.length < SHARDS_MIN) continue;
    if (load.stoodStill(atMs - 1_000, atMs + RESUME_LIMIT_MS)) continue;
    const firstUs = await firstTickAfter(cast.db, engine.shards, engine.atUs + CLOCK_MARGIN_US);
    took.push(firstUs === undefined ? Number.POSITIVE_INFINITY : (firstUs - engine.atUs) / 1_000);
  }
  return took.sort((a, b) => a - b);
}

/** Judges a slice in which everything had the time to end. */
export async function judge(cast: Cast, load: Load, landed: readonly Landed[]): Promise<Verdict> {
  const journal = await readJournal(cast.db);
  const byRun = new Map(journal.map((run) => [run.runId, run]));
  const { steps } = cast.chain;
  const { started } = load;
  const ends = new Set([...cast.marks.read().effects.values()].flatMap((of) => [...of]));
  const lost: string[] = [];
  for (const [name, runId] of started) {
    const run = byRun.get(runId);
    if (run?.closed !== 'COMPLETED') lost.push(`${name}: ${run?.closed ?? 'no journal'} ${run?.parked ?? ''}`);
    const bodies = Array.from({ length: steps }, (_, index) => `${name}/step-${index + 1}`);
    for (const body of bodies) if (!ends.has(body)) lost.push(`${body}: its body never came to its end`);
  }
  const twice = journal.length - new Set(started.values()).size;
  return {
    lost,
    doubled: [
      ...contradictions(journal),
      ...keysDoubled(cast.marks),
      ...(twice === 0 ? [] : [`${twice} runs more than acknowledged starts`]),
    ],
    stuck: journal.filter(({ closed }) => closed === '').map(({ runId }) => runId),
    resumedMs: await resumed(cast, load, landed),
    runs: started.size,
    bodies: cast.marks.counts.begun,
  };
}

/** The value that so large a part of the sorted values stays within. */
export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}
