import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { ClaimItem, ClaimState } from '../claim-item.js';
import { ITEM_COLUMNS, toItem, type ItemRow } from './item-row.js';

const READ = prepared(
  'claims_read_items',
  `select ${ITEM_COLUMNS} from ductor.claim_item i where i.tenant_id = $1::uuid and i.item_id = any($2::uuid[])`,
);
const ASKS = prepared(
  'claims_read_asks',
  'select i.item_id, i.ask from ductor.claim_item i where i.tenant_id = $1::uuid and i.item_id = any($2::uuid[])',
);
const LOCK = prepared(
  'claims_lock_items',
  `select ${ITEM_COLUMNS} from ductor.claim_item i where i.tenant_id = $1::uuid and i.item_id = any($2::uuid[])
    order by i.item_id for update`,
);

/** Which items of a queue. */
export interface ItemQuery {
  readonly queueId: string;
  /** null: in any. */
  readonly state: ClaimState | null;
  /** Only those that are offered to this recipient, or that it has claimed; null: all. */
  readonly recipientId: string | null;
  /** The last one of the page before; null: from the first. */
  readonly after: { readonly queuedUs: number; readonly itemId: string } | null;
  readonly limit: number;
}

const listText = (state: string): string => `select ${ITEM_COLUMNS} from ductor.claim_item i
    where i.tenant_id = $1::uuid and i.queue_id = $2::uuid ${state}
      and ($4::uuid is null or i.claimed_by = $4::uuid
        or (i.state = 'open' and i.claimants[1:i.visible] @> array[$4::uuid]
          and not i.declined @> array[$4::uuid]))
      and ($5::bigint is null or (i.queued_at, i.item_id) > ($5::bigint, $6::uuid))
    order by i.queued_at, i.item_id limit $7`;

/** Open ones have an index of their own: there are few of them beside all that were. */
const LIST_OPEN = prepared('claims_list_open_items', listText(`and i.state = 'open' and $3::text = 'open'`));
const LIST = prepared('claims_list_items', listText('and ($3::text is null or i.state = $3::text)'));

/** Items by id; those that there are not are absent. */
export async function readItems(
  db: Queryable,
  tenantId: string,
  itemIds: readonly string[],
): Promise<ReadonlyMap<string, ClaimItem>> {
  const { rows } = await db.query<ItemRow>(READ, [tenantId, uuidArray(itemIds)]);
  return new Map(rows.map((row) => [row.item_id, toItem(row)]));
}

/** JSON of what was asked for, by item. */
export async function readAsks(
  db: Queryable,
  tenantId: string,
  itemIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (itemIds.length === 0) return new Map();
  const { rows } = await db.query<Row & { item_id: string; ask: Buffer }>(ASKS, [tenantId, uuidArray(itemIds)]);
  return new Map(rows.map(({ item_id: id, ask }) => [id, ask.toString('utf8')]));
}

/** Locks items until the transaction ends, in the order of their ids; by id, as they are once they are locked. */
export async function lockItems(
  tx: Queryable,
  tenantId: string,
  itemIds: readonly string[],
): Promise<ReadonlyMap<string, ClaimItem>> {
  const { rows } = await tx.query<ItemRow>(LOCK, [tenantId, uuidArray(itemIds)]);
  return new Map(rows.map((row) => [row.item_id, toItem(row)]));
}

/** Items of a queue, the longest waiting first. */
export async function listItems(db: Queryable, tenantId: string, query: ItemQuery): Promise<readonly ClaimItem[]> {
  const { queueId, state, recipientId, after, limit } = query;
  const place = [after?.queuedUs ?? null, after?.itemId ?? null];
  const text = state === 'open' ? LIST_OPEN : LIST;
  const { rows } = await db.query<ItemRow>(text, [tenantId, queueId, state, recipientId, ...place, limit]);
  return rows.map(toItem);
}
