import type { Row } from '../../../store/index.js';
import type { ClaimItem, ClaimState, ClaimTerms, ClaimWave } from '../claim-item.js';

/** Columns of an item `i`. */
export const ITEM_COLUMNS = `i.tenant_id, i.item_id, i.queue_id, i.pool_id, i.decision_id, i.work, i.rules, i.waiter,
  i.claimants, i.units, i.opened, i.visible, i.declined, i.state, i.queued_at, i.expires_at, i.claimed_by,
  i.assignment_id, i.claimed_at, i.released_by, i.ended_at, i.next_at, i.ends_with, i.claimed_for`;

/** What of an item is kept as `work`. */
export interface StoredWork {
  readonly routable_id: string;
  readonly routable_type: string;
  readonly channel: string;
  readonly priority: number;
}

/** What of an item is kept as `rules`. */
export interface StoredRules {
  readonly waves: readonly ClaimWave[];
  readonly terms: ClaimTerms;
}

/** A row of them. */
export interface ItemRow extends Row {
  readonly tenant_id: string;
  readonly item_id: string;
  readonly queue_id: string;
  readonly pool_id: string;
  readonly decision_id: string;
  readonly work: StoredWork;
  readonly rules: StoredRules;
  readonly waiter: string | null;
  readonly claimants: readonly string[];
  readonly units: readonly number[];
  readonly opened: number;
  readonly visible: number;
  readonly declined: readonly string[];
  readonly state: ClaimState;
  readonly queued_at: number;
  readonly expires_at: number;
  readonly claimed_by: string | null;
  readonly assignment_id: string | null;
  readonly claimed_at: number | null;
  readonly released_by: string | null;
  readonly ended_at: number | null;
  readonly next_at: number | null;
  readonly ends_with: string | null;
  readonly claimed_for: string | null;
}

/** The item that a row holds. */
export function toItem(row: ItemRow): ClaimItem {
  const { work, rules } = row;
  return {
    ...{ tenantId: row.tenant_id, itemId: row.item_id, queueId: row.queue_id, poolId: row.pool_id },
    ...{ decisionId: row.decision_id, waiter: row.waiter, waves: rules.waves, terms: rules.terms },
    ...{ routableId: work.routable_id, routableType: work.routable_type, channel: work.channel },
    ...{ priority: work.priority, opened: row.opened, visible: row.visible, declined: row.declined },
    claimants: row.claimants.map((recipientId, index) => ({ recipientId, units: row.units[index] ?? 1 })),
    ...{ state: row.state, queuedUs: row.queued_at, expiresUs: row.expires_at, claimedBy: row.claimed_by },
    ...{ assignmentId: row.assignment_id, claimedUs: row.claimed_at, releasedBy: row.released_by },
    ...{ endedUs: row.ended_at, nextUs: row.next_at, endsWith: row.ends_with, claimedFor: row.claimed_for },
  };
}
