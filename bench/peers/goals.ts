/** The goals of the bench, as ratios within one run: they do not depend on the machine as figures do. Pure. */
import type { PeerName } from './peer-names.js';
import { type Results, mediansOf } from './results.js';
import type { WorkloadId } from './workload-ids.js';

/** Ductor's figure divided by the other's must be at least, or at most, so much. */
export interface Goal {
  readonly workload: WorkloadId;
  readonly key: string;
  readonly label: string;
  /** Whom Ductor is compared with; several: the best of them. */
  readonly against: readonly PeerName[];
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** What became of a goal. */
export interface GoalOutcome {
  readonly goal: Goal;
  /** Undefined when a figure is missing. */
  readonly ratio: number | undefined;
  readonly isMet: boolean | undefined;
}

/** The goals. */
export const GOALS: readonly Goal[] = [
  { workload: 'w1c64', key: 'stepsPerS', label: 'W1 at 64, steps/s', against: ['dbos'], atLeast: 6 },
  { workload: 'w1c64', key: 'stepsPerS', label: 'W1 at 64, steps/s', against: ['restate'], atLeast: 4 },
  { workload: 'w2c16', key: 'stepsPerS', label: 'W2 at 16, steps/s', against: ['restate'], atLeast: 3 },
  { workload: 'w1c1', key: 'p50', label: 'W1 at 1, p50', against: ['dbos', 'restate'], atMost: 0.7 },
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
    const ratio = own / best;
    const isMet = goal.atMost === undefined ? ratio >= (goal.atLeast ?? 0) : ratio <= goal.atMost;
    return { goal, ratio, isMet };
  });
}
