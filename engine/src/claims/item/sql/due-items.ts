import { prepared, type Queryable } from '../../../store/index.js';
import type { ClaimItem } from '../claim-item.js';
import { ITEM_COLUMNS, toItem, type ItemRow } from './item-row.js';

interface DueRow extends ItemRow {
  readonly ask: Buffer;
}

/** An item that is to be looked at. */
export interface DueItem {
  readonly item: ClaimItem;
  /** JSON of what was asked for. */
  readonly ask: string;
}

const DUE = prepared(
  'claims_due_items',
  `select ${ITEM_COLUMNS}, i.ask from (select * from ductor.claim_item d where d.next_at <= ductor.now_us()
      order by d.next_at limit $1 for update skip locked) i`,
);
const DECIDED = prepared(
  'claims_decided_again',
  `update ductor.claim_item i set next_at = null, decided_again = $3::uuid
    where i.tenant_id = $1::uuid and i.item_id = $2::uuid`,
);

/** Whether any item of any tenant is to be looked at: a condition in SQL. */
export const HAS_DUE_ITEMS = 'exists (select 1 from ductor.claim_item d where d.next_at <= ductor.now_us())';

/** Items of any tenant that are to be looked at, locked until the transaction ends; others' locks are passed over. */
export async function takeDueItems(tx: Queryable, limit: number): Promise<readonly DueItem[]> {
  const { rows } = await tx.query<DueRow>(DUE, [limit]);
  return rows.map((row) => ({ item: toItem(row), ask: row.ask.toString('utf8') }));
}

/** Notes the decision that was made about an item that had expired. */
export async function noteDecidedAgain(
  db: Queryable,
  { tenantId, itemId }: Pick<ClaimItem, 'tenantId' | 'itemId'>,
  decisionId: string,
): Promise<void> {
  await db.query(DECIDED, [tenantId, itemId, decisionId]);
}
