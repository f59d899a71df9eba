/** What a batch of the gate lane locks, reads and writes besides the journal; a field for each kind of authority. */
import type { SemaphoreChanges, SemaphoreKey, SemaphoreUsage } from '../../capacity/index.js';

/** Sessions over which commits go: `plain` for what touches runs alone, `gate` for what touches what they share. */
export type CommitLane = 'plain' | 'gate';

/** What a batch of the gate lane locks. */
export interface GateLocks {
  readonly semaphores: readonly SemaphoreKey[];
  /** The runs of the batch: what they hold and wait for is read, wherever they stand in line. */
  readonly runIds: readonly string[];
}

/** What was read under the locks. */
export interface GateUsage {
  /** Database time, microseconds since 1970. */
  readonly nowUs: number;
  readonly semaphores: readonly SemaphoreUsage[];
}

/** What is written besides the ticks. */
export interface GateChanges {
  readonly semaphores: SemaphoreChanges;
}
