/** What this room needs of others. */
import type { Queryable } from '../store/index.js';

/** Counters of a recipient, units. */
export interface RecipientCounters {
  readonly committed: number;
  readonly held: number;
  readonly dailyCommitted: number;
  readonly dailyAdmitted: number;
  readonly resetAtUs: number | null;
}

/** Who counts the units of recipients. Calls with `tx` are part of the caller's transaction. */
export interface CapacityAuthority {
  /** Begins to count for new recipients. */
  open(tx: Queryable, tenantId: string, recipientIds: readonly string[]): Promise<void>;
  /** Ends counting, but for those with units in use; returns the ids of those for which it ended. */
  close(tx: Queryable, tenantId: string, recipientIds: readonly string[]): Promise<readonly string[]>;
  /** By id; recipients it does not know are absent. */
  read(
    db: Queryable,
    tenantId: string,
    recipientIds: readonly string[],
  ): Promise<ReadonlyMap<string, RecipientCounters>>;
  /** Sets the committed counters to 0, not what is reserved; returns how many recipients it knows of them. */
  reset(tx: Queryable, tenantId: string, recipientIds: readonly string[]): Promise<number>;
}

/** Who knows the claim queues. */
export interface QueueKeeper {
  /** Keeps queues from being removed until the transaction ends; returns ids of those that there are. */
  keep(tx: Queryable, tenantId: string, queueIds: readonly string[]): Promise<ReadonlySet<string>>;
}
