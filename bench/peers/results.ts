/** What a run of the bench has measured, and the medians of it. */
import type { PeerName } from './peer-names.js';
import { median } from './statistics.js';
import type { WorkloadId } from './workload-ids.js';

/** One repetition of one engine under one workload. */
export interface Repetition {
  readonly workload: WorkloadId;
  readonly peer: PeerName;
  /** From 1. */
  readonly rep: number;
  readonly values: Readonly<Record<string, number>>;
  readonly foreign: number | undefined;
  /** Other programs took more cores than was allowed, and patience had run out. */
  readonly isDisturbed: boolean;
  /** Why there are no values. */
  readonly failure: string | undefined;
}

/** A sample of the yardstick. */
export interface RawSample {
  readonly workload: WorkloadId;
  readonly commitsPerS: number;
}

/** Everything a run measured. */
export interface Results {
  readonly repetitions: readonly Repetition[];
  readonly raw: readonly RawSample[];
}

/** Medians of one engine under one workload. */
export interface Medians {
  /** Undefined when no repetition has this figure. */
  value(key: string): number | undefined;
  /** Repetitions with values. */
  readonly count: number;
  readonly disturbed: number;
  readonly failures: readonly string[];
}

/** The medians. Pure. */
export function mediansOf(results: Results, workload: WorkloadId, peer: PeerName): Medians {
  const own = results.repetitions.filter((each) => each.workload === workload && each.peer === peer);
  const good = own.filter(({ failure }) => failure === undefined);
  return {
    value(key) {
      const known = good.flatMap(({ values }) => values[key] ?? []);
      return known.length === 0 ? undefined : median(known);
    },
    count: good.length,
    disturbed: good.filter(({ isDisturbed }) => isDisturbed).length,
    failures: own.flatMap(({ failure }) => failure ?? []),
  };
}

/** Median of the yardstick over the minutes of a workload; undefined when it was not taken. Pure. */
export function rawOf(results: Results, workload: WorkloadId): number | undefined {
  const own = results.raw.filter((each) => each.workload === workload).map(({ commitsPerS }) => commitsPerS);
  return own.length === 0 ? undefined : median(own);
}
