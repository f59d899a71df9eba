/** One slice of the kill suite: a deployment of its own, a load, a plan of faults, a verdict. */
import { seededRandom } from '../../engine/src/kernel/index.js';
import { statusCode } from '../../engine/src/workflow/store-postgres/run-status-code.js';
import { until } from '../support/wait.js';
import type { Cast } from './cast.js';
import { Load } from './load.js';
import { type FaultCounts, planFaults } from './plan.js';
import { FLOOR_STEPS, type Landed, strike } from './strike.js';
import { judge, quantile, type Verdict } from './verdict.js';

/** How long all runs may take to end once the last fault is over: a lost worker's attempts come back after 15 s. */
const SETTLE_LIMIT_MS = 90_000;

/** Runs that may be parked: three kills in a row meet the same one by chance, and rarely. */
const PARKED_MAX = 3;

/** Hits of engines that must have been timed: around others the machine stood still. */
const RESUMED_MIN = 5;

/** What a slice is. */
export interface SliceOptions {
  readonly seed: number;
  readonly runs: number;
  readonly faults: FaultCounts;
}

/** What it came to. */
export interface Slice extends Verdict {
  readonly seed: number;
  readonly planned: number;
  readonly landed: readonly Landed[];
  readonly faultsMs: number;
  readonly tookMs: number;
  /** Runs that were parked because their workers or engines were killed three times in a row, and let go on. */
  readonly parked: readonly string[];
}

/** Whether all have ended. Lets runs go on that wait for somebody to do so, as an operator would. */
async function allEnded(cast: Cast, load: Load, parked: Set<string>): Promise<boolean> {
  try {
    const { rows } = await cast.db.query<{ run_id: string; is_parked: boolean }>(
      'select run_id, status = $1 as is_parked from ductor.runs where closed_at is null',
      [statusCode('PARKED')],
    );
    for (const { run_id: runId } of rows.filter(({ is_parked: isParked }) => isParked)) {
      if (await load.resume(runId)) parked.add(runId);
    }
    return rows.length === 0;
  } catch {
    // The database may be on its way back.
    return false;
  }
}

/** Runs a slice on a cast that has done nothing yet. */
export async function runSlice(cast: Cast, { seed, runs, faults }: SliceOptions): Promise<Slice> {
  const random = seededRandom(seed);
  const plan = planFaults(faults, random).filter((kind) => kind !== 'kill redis' || cast.redis !== undefined);
  const beganMs = performance.now();
  const load = new Load(cast, runs);
  const landed = await strike(cast, load, plan, random);
  const faultsMs = performance.now() - beganMs;
  await load.end();
  // What has not ended by then is stuck, and the verdict says which.
  const parked = new Set<string>();
  await until('all runs to end', () => allEnded(cast, load, parked), { limitMs: SETTLE_LIMIT_MS, everyMs: 200 }).catch(
    () => false,
  );
  const tookMs = performance.now() - beganMs;
  const verdict = await judge(cast, load, landed);
  await load.close();
  return { ...verdict, seed, planned: plan.length, landed, faultsMs, tookMs, parked: [...parked] };
}

/** A slice as one line for people. */
export function sliceLine(slice: Slice): string {
  const counts = new Map<string, number>();
  for (const { kind } of slice.landed) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const faults = [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ');
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
  const least = Math.min(...slice.landed.map(({ stepsBefore }) => stepsBefore));
  return (
    `seed ${slice.seed}: ${slice.runs} runs in ${seconds(slice.tookMs)} s, ` +
    `${slice.landed.length} of ${slice.planned} faults in ${seconds(slice.faultsMs)} s (${faults}), ` +
    `each at ${least} steps/s or more (floor ${FLOOR_STEPS}); ` +
    `${slice.bodies} bodies begun; lost ${slice.lost.length}, double ${slice.doubled.length}, ` +
    `stuck ${slice.stuck.length}, parked and let go on ${slice.parked.length}; shards of a hit engine go on after ` +
    `p50 ${Math.round(quantile(slice.resumedMs, 0.5))} ms, p99 ${Math.round(quantile(slice.resumedMs, 0.99))} ms ` +
    `(${slice.resumedMs.length} times)`
  );
}

/** What is wrong with a slice, beside what it lost, did twice or left open; empty when it proves something. */
export function weaknesses(slice: Slice): readonly string[] {
  const found: string[] = [];
  const idle = slice.landed.filter(({ stepsBefore }) => stepsBefore < FLOOR_STEPS);
  if (slice.landed.length < slice.planned) found.push(`${slice.landed.length} of ${slice.planned} faults landed`);
  if (idle.length > 0) found.push(`${idle.length} faults landed below ${FLOOR_STEPS} steps/s`);
  if (slice.parked.length > PARKED_MAX) found.push(`${slice.parked.length} runs were parked: ${slice.parked.join()}`);
  if (slice.resumedMs.length < RESUMED_MIN) found.push(`${slice.resumedMs.length} hits of engines could be timed`);
  return found;
}
