import { integerArray, prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { ClaimItem } from '../claim-item.js';

const WRITE = prepared(
  'claims_write_items',
  `update ductor.claim_item i
    set state = n.state, opened = n.opened, visible = n.visible, declined = n.declined::uuid[],
      claimed_by = n.claimed_by, assignment_id = n.assignment_id, claimed_at = n.claimed_at,
      released_by = n.released_by, ended_at = n.ended_at, next_at = n.next_at, claimed_for = n.claimed_for
    from unnest($1::uuid[], $2::uuid[], $3::text[], $4::integer[], $5::integer[], $6::text[], $7::uuid[], $8::uuid[],
      $9::bigint[], $10::uuid[], $11::bigint[], $12::bigint[], $13::text[])
      as n (tenant_id, item_id, state, opened, visible, declined, claimed_by, assignment_id, claimed_at, released_by,
        ended_at, next_at, claimed_for)
    where i.tenant_id = n.tenant_id and i.item_id = n.item_id`,
);

/** Stores what locked items are now. */
export async function writeItems(tx: Queryable, items: readonly ClaimItem[]): Promise<void> {
  if (items.length === 0) return;
  await tx.query(WRITE, [
    uuidArray(items.map(({ tenantId }) => tenantId)),
    uuidArray(items.map(({ itemId }) => itemId)),
    items.map(({ state }) => state),
    integerArray(items.map(({ opened }) => opened)),
    integerArray(items.map(({ visible }) => visible)),
    items.map(({ declined }) => uuidArray(declined)),
    uuidArray(items.map(({ claimedBy }) => claimedBy)),
    uuidArray(items.map(({ assignmentId }) => assignmentId)),
    integerArray(items.map(({ claimedUs }) => claimedUs)),
    uuidArray(items.map(({ releasedBy }) => releasedBy)),
    integerArray(items.map(({ endedUs }) => endedUs)),
    integerArray(items.map(({ nextUs }) => nextUs)),
    items.map(({ claimedFor }) => claimedFor),
  ]);
}
