/** A workload: how one repetition is measured, and the rows its figures fill. */
import type { Peer } from '../peer.js';
import type { WorkloadId } from '../workload-ids.js';

/** One repetition of one engine. */
export interface Sample {
  /** Figures by the keys of the rows; a figure that an engine does not have is left out. */
  readonly values: Readonly<Record<string, number>>;
  /** Cores other programs used meanwhile; undefined where the machine does not tell. */
  readonly foreign: number | undefined;
}

/** A row of the table. */
export interface Row {
  readonly key: string;
  readonly label: string;
  /** Which is better; `none` for figures that only explain others. */
  readonly better: 'more' | 'less' | 'none';
  /** Whether it is also shown as a share of raw commits. */
  readonly perRaw?: boolean;
}

/** What a repetition is given. */
export interface Measuring {
  readonly seconds: number;
  readonly warmSeconds: number;
  readonly scale: number;
  /** The database server's first process, if it is on this machine. */
  readonly postmaster: number | undefined;
  /** For files. */
  readonly folder: string;
  /** Where CPU profiles go; undefined: none are made. */
  readonly profilePrefix: string | undefined;
}

/** A workload. */
export interface Workload {
  readonly id: WorkloadId;
  readonly title: string;
  readonly rows: readonly Row[];
  /** Repetitions, where one is enough. */
  readonly repsMax?: number;
  measure(peer: Peer, how: Measuring): Promise<Sample>;
}

/** A fixed size, scaled and at least 1. */
export function scaled(size: number, { scale }: Measuring): number {
  return Math.max(1, Math.round(size * scale));
}
