/** The goals of the bench, as ratios within one run: they do not depend on the machine as figures do. Pure. */
import type { PeerName } from './peer-names.js';
import { type Results, mediansOf } from './results.js';
import type { WorkloadId } from './workload-ids.js';

/** Ductor's figure divided by the other's must be at least, or at most, so much; without others the figure itself. */
export interface Goal {
  readonly workload: WorkloadId;
  readonly key: string;
  readonly label: string;
  /** Whom Ductor is compared with; several: the best of them; none: it is judged by itself. */
  readonly against: readonly PeerName[];
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** What became of a goal. */
export interface GoalOutcome {
  readonly goal: Goal;
  /** The figure itself when it is judged by itself. Undefined when a figure is missing. */
  readonly ratio: number | undefined;
  readonly isMet: boolean | undefined;
}

const BOTH: readonly PeerName[] = ['dbos', 'restate'];
/** The lease of a node and a second, ms: by then the work of a node that was killed has gone on and ended. */
const LEASE_AND_A_SECOND_MS = 6_000;

/** Tails are to be no longer than those of the better peer. */
function tail(workload: WorkloadId, label: string): Goal {
  return { workload, key: 'p99', label: `${label}, p99`, against: BOTH, atMost: 1 };
}

/** The goals. */
export const GOALS: readonly Goal[] = [
  { workload: 'w1c64', key: 'stepsPerS', label: 'W1 at 64, steps/s', against: ['dbos'], atLeast: 15 },
  { workload: 'w1c64', key: 'stepsPerS', label: 'W1 at 64, steps/s', against: ['restate'], atLeast: 10 },
  { workload: 'w2c16', key: 'stepsPerS', label: 'W2 at 16, steps/s', against: ['restate'], atLeast: 6 },
  { workload: 'w1c1', key: 'p50', label: 'W1 at 1, p50', against: BOTH, atMost: 0.5 },
  { workload: 'w3', key: 'late99', label: 'W3, lateness p99', against: BOTH, atMost: 0.5 },
  { workload: 'w4', key: 'startsPerS', label: 'W4, starts/s', against: ['dbos'], atLeast: 5 },
  { workload: 'w4', key: 'startsPerS', label: 'W4, starts/s', against: ['restate'], atLeast: 3 },
  { workload: 'w5', key: 'bytes', label: 'W5, bytes a finished run', against: ['dbos'], atMost: 0.8 },
  {
    ...{ workload: 'w6', key: 'killToLastMs', label: 'W6, kill to last step, ms', against: [] },
    atMost: LEASE_AND_A_SECOND_MS,
  },
  tail('w1c1', 'W1 at 1'),
  tail('w1c64', 'W1 at 64'),
  tail('w2c16', 'W2 at 16'),
  tail('w4', 'W4'),
];

/** Judges the goals. */
export function judge(results: Results, goals: readonly Goal[] = GOALS): readonly GoalOutcome[] {
  return goals.map((goal) => {
    const figure = (peer: PeerName): number | undefined => mediansOf(results, goal.workload, peer).value(goal.key);
    const own = figure('ductor');
    const others = goal.against.map(figure).filter((value) => value !== undefined);
    if (own === undefined || others.length < goal.against.length) {
      return { goal, ratio: undefined, isMet: undefined };
    }
    const best = goal.atMost === undefined ? Math.max(...others) : Math.min(...others);
    const ratio = others.length === 0 ? own : own / best;
    const isMet = goal.atMost === undefined ? ratio >= (goal.atLeast ?? 0) : ratio <= goal.atMost;
    return { goal, ratio, isMet };
  });
}
