import { BatchBlob, integerArray, prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { ClaimItem, NewClaimItem } from '../claim-item.js';
import { firstOffer, nextLookUs } from '../look.js';
import type { StoredRules, StoredWork } from './item-row.js';

const INSERT = prepared(
  'claims_insert_items',
  `insert into ductor.claim_item (tenant_id, item_id, queue_id, pool_id, decision_id, work, rules, waiter, ask,
      claimants, units, opened, visible, queued_at, expires_at, next_at, ends_with)
    select $1::uuid, n.item_id, n.queue_id, n.pool_id, n.decision_id, n.body -> 'work', n.body -> 'rules',
        n.body ->> 'waiter', n.ask, n.claimants::uuid[], n.units::integer[], n.opened, n.visible, n.queued_at,
        n.expires_at, n.next_at, n.ends_with
      from (
        select r.*, convert_from(substring($2::bytea from r.o + 1 for r.l), 'UTF8')::jsonb as body,
            substring($2::bytea from r.ask_o + 1 for r.ask_l) as ask
          from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::integer[], $8::integer[], $9::integer[],
            $10::integer[], $11::text[], $12::text[], $13::integer[], $14::integer[], $15::bigint[], $16::bigint[],
            $17::bigint[], $18::uuid[])
          as r (item_id, queue_id, pool_id, decision_id, o, l, ask_o, ask_l, claimants, units, opened, visible,
            queued_at, expires_at, next_at, ends_with)) n`,
);

/** The body of an item as JSON. */
function bodyOf(item: NewClaimItem): Buffer {
  const { routableId, routableType, channel, priority, waves, terms, waiter } = item;
  const work: StoredWork = { routable_id: routableId, routable_type: routableType, channel, priority };
  const rules: StoredRules = { waves, terms };
  return Buffer.from(JSON.stringify({ work, rules, waiter }), 'utf8');
}

/** A new item as it stands at first. */
export function freshItem(item: NewClaimItem): ClaimItem {
  const none = { claimedBy: null, claimedFor: null, assignmentId: null, claimedUs: null, releasedBy: null };
  const rest = { endedUs: null, nextUs: null, state: 'open', declined: [] } as const;
  const fresh: ClaimItem = { ...item, ...firstOffer(item), ...none, ...rest };
  return { ...fresh, nextUs: nextLookUs(fresh, fresh.queuedUs) };
}

/** Puts items of a tenant in their queues, which are kept from being removed (keepQueues). */
export async function insertItems(tx: Queryable, tenantId: string, items: readonly NewClaimItem[]): Promise<void> {
  if (items.length === 0) return;
  const blob = new BatchBlob();
  const bodies = items.map((item) => blob.append(bodyOf(item)));
  const asks = items.map(({ ask }) => blob.append(Buffer.from(ask, 'utf8')));
  const fresh = items.map(freshItem);
  await tx.query(INSERT, [
    tenantId,
    blob.toBuffer(),
    uuidArray(items.map(({ itemId }) => itemId)),
    uuidArray(items.map(({ queueId }) => queueId)),
    uuidArray(items.map(({ poolId }) => poolId)),
    uuidArray(items.map(({ decisionId }) => decisionId)),
    integerArray(bodies.map(({ offset }) => offset)),
    integerArray(bodies.map(({ length }) => length)),
    integerArray(asks.map(({ offset }) => offset)),
    integerArray(asks.map(({ length }) => length)),
    items.map(({ claimants }) => uuidArray(claimants.map(({ recipientId }) => recipientId))),
    items.map(({ claimants }) => integerArray(claimants.map(({ units }) => units))),
    integerArray(fresh.map(({ opened }) => opened)),
    integerArray(fresh.map(({ visible }) => visible)),
    integerArray(items.map(({ queuedUs }) => queuedUs)),
    integerArray(items.map(({ expiresUs }) => expiresUs)),
    integerArray(fresh.map(({ nextUs }) => nextUs)),
    uuidArray(items.map(({ endsWith }) => endsWith)),
  ]);
}
