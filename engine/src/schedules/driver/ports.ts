/** What the driver needs of the rooms above. */
import type { ScheduleRecord } from '../schedule.js';

/** A run of a tenant. */
export interface RunRef {
  readonly tenantId: string;
  readonly runId: string;
}

/** A run to start for a slot. */
export interface SlotStart extends Pick<ScheduleRecord, 'tenantId' | 'familySlug' | 'version' | 'input'> {
  readonly attributes: Readonly<Record<string, string>>;
  /** The same for every try of a slot: whoever starts it again gets the first run. */
  readonly idempotencyKey: string;
  /** 32 bytes that depend on the key alone, so that an edit of the schedule between two tries makes no difference. */
  readonly fingerprint: Uint8Array;
}

/** What is done with runs. */
export interface ScheduleRuns {
  /** Starts the run, or answers the one that was started under the key. Throws what starts throw. */
  start(start: SlotStart): Promise<{ readonly runId: string }>;
  /** Those of the runs that have not ended. */
  openAmong(runs: readonly RunRef[]): Promise<readonly RunRef[]>;
  /** Asks a run to end; resolves when the request is durable. Throws run_closed, not_found. */
  cancel(run: RunRef, reason: string): Promise<void>;
}

/** The node as it serves now. */
export interface ScheduleOwner {
  /** Id under which the node owns shards; null: it serves under none. */
  nodeId(): string | null;
  /** Shards it owns. */
  ownedShards(): readonly number[];
}
