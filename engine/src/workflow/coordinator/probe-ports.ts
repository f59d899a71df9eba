/** What the store knows of runs that may end their engine. */

/** A run that is named, by tenant and id. */
export interface ProbedRun {
  readonly tenantId: string;
  readonly runId: string;
}

/** A run that was named as tried when its node ended without leaving. */
export interface CrashedRun extends ProbedRun {
  /** Nodes that ended so; of those under which it was tried together with others, CRASHES_LEFT at most. */
  readonly crashes: number;
  /** How long ago the last one was noticed, ms. */
  readonly agoMs: number;
}

/** For so long after a takeover from a node that ended without leaving, the runs of its shards are suspects; ms. */
export const SUSPECT_MS = 30_000;

/** Crashes that lie further apart than this are not counted together; ms. */
export const CRASHES_WITHIN_MS = 600_000;

/** Crashes after which a run is parked instead of tried. */
export const PARKED_AT_CRASHES = 3;

/** Crashes a run is left with once it is parked: let go on, it is tried alone, and the next one parks it again. */
export const CRASHES_LEFT = PARKED_AT_CRASHES - 1;

/** Names what is tried, and counts what became of it. The counting is done by ClusterStore.takeOver. */
export interface ProbeStore {
  /**
   * Names the runs that this node tries next, in place of those it named before; none: it tries nothing. False: the
   * node is fenced.
   */
  probe(nodeId: string, runs: readonly ProbedRun[]): Promise<boolean>;
  /** Runs of these shards with crashes that are counted. */
  crashes(shards: readonly number[]): Promise<readonly CrashedRun[]>;
  /** The run was parked for its crashes. */
  quarantined(run: ProbedRun): Promise<void>;
}
