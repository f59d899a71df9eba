/** What can be tuned of a coordinator; every number has a default that fits one node of a small cluster. */

/** Settings of a coordinator. Units stand last in each name. */
export interface CoordinatorOptions {
  /** Runs a batch carries at most. */
  readonly maxBatchRuns: number;
  /** Bytes of entries, snapshots and payloads a batch carries at most; a tick that is larger goes alone. */
  readonly maxBatchBytes: number;
  /** Inputs one tick of one run takes at most; the rest goes into its next tick. */
  readonly maxTickInputs: number;
  /** Values beyond this size stand in payloads, not in rows and snapshots; bytes. */
  readonly payloadBytes: number;
  /** Bytes the loaded runs may take, estimated from their journals. */
  readonly cacheBytes: number;
  /** Starts that may wait for their commit; one more is refused with limit_exceeded. */
  readonly maxWaitingStarts: number;
  /** Those of one tenant: what is left of the node's is for the others. */
  readonly maxWaitingStartsPerTenant: number;
  /** A start that waits longer than this for its commit waits too long, whatever is usual. */
  readonly startWaitMs: number;
  /** So many starts may always wait: a commit of so many takes hardly longer than one of one. */
  readonly leastWaitingStarts: number;
  /** For so long there must always have been one that does before starts are refused for it. */
  readonly standingMs: number;
  /** For so long none must have been refused before all are let in again. */
  readonly calmMs: number;
  /** Runs one load or listing asks for. */
  readonly loadPageRuns: number;
  /** How long a lease lasts after the heartbeat that renewed it. */
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** How long a takeover waits for the inventories of connected workers before it sends un-noted attempts again. */
  readonly inventoryWaitMs: number;
  /** How long an attempt runs before it is noted in the journal. */
  readonly noteAfterMs: number;
  /** Attempts whose timeout is shorter than this are noted at once. */
  readonly noteAtOnceBelowMs: number;
  /** How long a worker may be gone before its un-noted attempts are sent to another. */
  readonly reconnectGraceMs: number;
  /** How long a worker may be gone before its noted attempts count as lost. */
  readonly workerLostAfterMs: number;
  /** Runs that wait longer than this stay on disk. */
  readonly wakeHorizonMs: number;
  /** How often the store is asked for runs that come within the horizon; well below the horizon. */
  readonly wakeScanMs: number;
  /** How long stop() lets the lane finish what is waiting. */
  readonly stopWaitMs: number;
}

/** The defaults. */
export const DEFAULT_COORDINATOR_OPTIONS: CoordinatorOptions = {
  maxBatchRuns: 1_024,
  maxBatchBytes: 4 * 1024 * 1024,
  maxTickInputs: 1_024,
  payloadBytes: 64 * 1024,
  cacheBytes: 256 * 1024 * 1024,
  maxWaitingStarts: 20_000,
  maxWaitingStartsPerTenant: 16_000,
  startWaitMs: 500,
  leastWaitingStarts: 16,
  standingMs: 1_000,
  calmMs: 5_000,
  loadPageRuns: 500,
  leaseMs: 5_000,
  heartbeatMs: 1_000,
  inventoryWaitMs: 1_000,
  noteAfterMs: 1_000,
  noteAtOnceBelowMs: 2_000,
  reconnectGraceMs: 300,
  workerLostAfterMs: 15_000,
  wakeHorizonMs: 60_000,
  wakeScanMs: 30_000,
  stopWaitMs: 5_000,
};
