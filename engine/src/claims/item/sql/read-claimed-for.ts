import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { TeamClaimer } from '../../budget/sql/team-usage.js';

interface ClaimedRow extends Row {
  readonly queue_id: string;
  readonly team: string;
}

const READ = prepared(
  'claims_read_claimed_for',
  `select i.queue_id, i.claimed_for as team from ductor.claim_item i
    where i.tenant_id = $1::uuid and i.item_id = any($2::uuid[]) and i.claimed_for is not null`,
);

/** Teams that claims of items count for. Those of claimers whose accounts are locked do not change any more. */
export async function readClaimedFor(
  tx: Queryable,
  tenantId: string,
  itemIds: readonly string[],
): Promise<readonly TeamClaimer[]> {
  if (itemIds.length === 0) return [];
  const { rows } = await tx.query<ClaimedRow>(READ, [tenantId, uuidArray(itemIds)]);
  return rows.map(({ queue_id: queueId, team }) => ({ queueId, team }));
}
