/** What the capacity authority counts for a recipient. */

/** Counters of a recipient, units. */
export interface Counters {
  /** Of assignments that were confirmed and have not ended. */
  readonly committed: number;
  /** That workflows have reserved. */
  readonly held: number;
  /** Committed this UTC day. */
  readonly dailyCommitted: number;
  /** Reserved this UTC day, those that were released included. */
  readonly dailyAdmitted: number;
  /** When the committed counters were last set to 0 by hand, microseconds since 1970; null: never. */
  readonly resetAtUs: number | null;
}
