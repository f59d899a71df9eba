/** What has to be done now and then: partitions made ahead, expired start keys removed. Any node may, at any time. */
import type { Queryable, Row } from '../../store/index.js';

/** What was done. */
export interface RunMaintenance {
  /** Journal partitions that were missing. */
  readonly partitionsMade: number;
  /** Expired start keys that were removed. */
  readonly startKeysRemoved: number;
}

/** Partitions are made so many weeks ahead: an engine may stand still for a month and find this week's all the same. */
const WEEKS_AHEAD = 4;
/** Keys removed by one call: a short transaction. */
const MAX_KEYS = 5_000;

/**
 * Makes journal partitions ahead and removes expired start keys. Call it when the engine starts and every hour.
 * A week that has no partition goes to the default one: correct, but not dropped as a whole later.
 */
export async function maintainRuns(db: Queryable): Promise<RunMaintenance> {
  const made = await db.query<Row & { made: number }>('select ductor.ensure_journal_partitions($1) as made', [
    WEEKS_AHEAD,
  ]);
  const removed = await db.query(
    `delete from ductor.run_start_key where (tenant_id, family_slug, key) in (
      select k.tenant_id, k.family_slug, k.key from ductor.run_start_key k
      where k.expires_at <= ductor.now_us() order by k.tenant_id, k.family_slug, k.key
      limit $1 for update skip locked)`,
    [MAX_KEYS],
  );
  return { partitionsMade: made.rows[0]?.made ?? 0, startKeysRemoved: removed.rowCount };
}
