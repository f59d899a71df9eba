/** What of routing is not kept for ever. */
import type { Queryable } from '../store/index.js';

/** Rows that one statement deletes at most: it must not hold others up. */
const BATCH = 5_000;

/** By table: which rows are over. Idempotency keys are kept for 30 days, ended claims for
 * 90; no budget has a longer period than 366. */
const OVER = {
  routing_decision: 'expires_at < ductor.now_us()',
  shadow_decision: 'expires_at < ductor.now_us()',
  routing_dedupe: 'expires_at < ductor.now_us()',
  routing_binding: 'expires_at < ductor.now_us()',
  routing_offer: 'next_at is null and expires_at < ductor.now_us() - 90 * 86400000000',
  sla_clock: 'next_at is null and paused_at is null and due_at < ductor.now_us() - 90 * 86400000000',
  claim_item: 'ended_at < ductor.now_us() - 90 * 86400000000 and next_at is null',
  waiting_work: 'ended_at < ductor.now_us() - 90 * 86400000000',
  claim_budget_usage: 'updated_at < ductor.now_us() - 400 * 86400000000',
  claim_team_usage: 'updated_at < ductor.now_us() - 400 * 86400000000',
  routing_request: 'created_at < ductor.now_us() - 30 * 86400000000',
} as const;

/** Deletes what is over, in batches. Rows that somebody has locked are left for the next time: nobody waits for it. */
export async function maintainRouting(db: Queryable): Promise<void> {
  for (const [table, condition] of Object.entries(OVER)) {
    for (let deleted = BATCH; deleted === BATCH;) {
      const text = `delete from ductor.${table} where ctid = any(array(
        select ctid from ductor.${table} where ${condition} limit ${BATCH} for update skip locked))`;
      deleted = (await db.query(text)).rowCount;
    }
  }
}
