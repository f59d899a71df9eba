import { prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { ClaimItem } from '../claim-item.js';
import { ITEM_COLUMNS, toItem, type ItemRow } from './item-row.js';

const LOCK_ORDERED = `select o.item_id from ductor.claim_item o
  where o.tenant_id = $1::uuid and o.item_id = any($2::uuid[]) order by o.item_id for update`;
const END = prepared(
  'claims_end_items',
  `with locked as materialized (${LOCK_ORDERED})
    update ductor.claim_item i
      set state = n.state, ended_at = ductor.now_us(), next_at = null
      from unnest($2::uuid[], $3::uuid[], $4::text[]) as n (item_id, assignment_id, state), locked l
      where i.tenant_id = $1::uuid and i.item_id = n.item_id and l.item_id = n.item_id and i.state = 'claimed'
        and i.assignment_id = n.assignment_id
      returning ${ITEM_COLUMNS}`,
);
const WITHDRAW = prepared(
  'claims_withdraw_items',
  `with locked as materialized (${LOCK_ORDERED})
    update ductor.claim_item i set state = 'withdrawn', ended_at = ductor.now_us(), next_at = null
      from locked l
      where i.tenant_id = $1::uuid and i.item_id = l.item_id and i.state = 'open'
      returning ${ITEM_COLUMNS}`,
);
const WITHDRAW_ENDING = prepared(
  'claims_withdraw_ending',
  `with locked as materialized (select o.item_id from ductor.claim_item o
      where o.tenant_id = $1::uuid and o.ends_with = any($2::uuid[]) and o.state = 'open'
      order by o.item_id for update)
    update ductor.claim_item i set state = 'withdrawn', ended_at = ductor.now_us(), next_at = null
      from locked l
      where i.tenant_id = $1::uuid and i.item_id = l.item_id and i.state = 'open'`,
);

/** An assignment that has ended, with the item that it was claimed by. */
export interface EndedClaim {
  readonly itemId: string;
  readonly assignmentId: string;
  /** Whether the work was done; else it was taken away. */
  readonly isCompleted: boolean;
}

/** Ends claimed items whose assignments have ended; returns those that it ended. */
export async function endItems(
  tx: Queryable,
  tenantId: string,
  ended: readonly EndedClaim[],
): Promise<readonly ClaimItem[]> {
  if (ended.length === 0) return [];
  const { rows } = await tx.query<ItemRow>(END, [
    tenantId,
    uuidArray(ended.map(({ itemId }) => itemId)),
    uuidArray(ended.map(({ assignmentId }) => assignmentId)),
    ended.map(({ isCompleted }) => (isCompleted ? 'completed' : 'withdrawn')),
  ]);
  return rows.map(toItem);
}

/** Takes open items out of their queues that end with chains of runs. */
export async function withdrawEnding(tx: Queryable, tenantId: string, chainIds: readonly string[]): Promise<void> {
  if (chainIds.length > 0) await tx.query(WITHDRAW_ENDING, [tenantId, uuidArray(chainIds)]);
}

/**
 * Takes open items out of their queues: nobody needs them any more. What somebody has claimed stays as it is.
 *
 * @returns the items that were taken out
 */
export async function withdrawItems(
  tx: Queryable,
  tenantId: string,
  itemIds: readonly string[],
): Promise<readonly ClaimItem[]> {
  if (itemIds.length === 0) return [];
  const { rows } = await tx.query<ItemRow>(WITHDRAW, [tenantId, uuidArray(itemIds)]);
  return rows.map(toItem);
}
