import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';

interface CountRow extends Row {
  readonly queue_id: string;
  readonly recipient_id: string;
  readonly claims: number;
}

const COUNT = prepared(
  'claims_count_open_claims',
  `select i.queue_id, i.claimed_by as recipient_id, count(*)::integer as claims from ductor.claim_item i
    where i.tenant_id = $1::uuid and i.state = 'claimed' and i.claimed_by = any($2::uuid[])
      and i.queue_id = any($3::uuid[])
    group by 1, 2`,
);

/** A recipient in a queue, as a key of maps. */
export function claimerKey(queueId: string, recipientId: string): string {
  return `${queueId}/${recipientId}`;
}

/** Claims that have not ended, by queue and recipient (claimerKey). Exact while the recipients' accounts are locked. */
export async function countOpenClaims(
  tx: Queryable,
  tenantId: string,
  recipientIds: readonly string[],
  queueIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await tx.query<CountRow>(COUNT, [tenantId, uuidArray(recipientIds), uuidArray(queueIds)]);
  return new Map(rows.map((row) => [claimerKey(row.queue_id, row.recipient_id), row.claims]));
}
