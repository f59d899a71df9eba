import { BatchBlob, integerArray, prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { FixedUse, Usage } from '../budget.js';
import { claimerKey } from '../../item/sql/count-open-claims.js';

/** A recipient in a queue. */
export interface Claimer {
  readonly queueId: string;
  readonly recipientId: string;
}

/** What is kept of periods. */
export interface StoredPeriods {
  readonly fixed?: Readonly<Record<string, FixedUse>>;
  readonly rolling?: Readonly<Record<string, readonly number[]>>;
}

interface UsageRow extends Row {
  readonly queue_id: string;
  readonly recipient_id: string;
  readonly cooling_until: number;
  readonly periods: StoredPeriods;
}

const ENSURE = prepared(
  'claims_ensure_usage',
  `insert into ductor.claim_budget_usage (tenant_id, queue_id, recipient_id, updated_at)
    select $1::uuid, n.queue_id, n.recipient_id, ductor.now_us()
      from unnest($2::uuid[], $3::uuid[]) as n (queue_id, recipient_id) order by n.queue_id, n.recipient_id
    on conflict do nothing`,
);
const LOCK = prepared(
  'claims_lock_usage',
  `select u.queue_id, u.recipient_id, u.cooling_until, u.periods from ductor.claim_budget_usage u
    where u.tenant_id = $1::uuid and (u.queue_id, u.recipient_id) in (select * from unnest($2::uuid[], $3::uuid[]))
    order by u.queue_id, u.recipient_id for update`,
);
const WRITE = prepared(
  'claims_write_usage',
  `update ductor.claim_budget_usage u
    set cooling_until = n.cooling_until, updated_at = ductor.now_us(),
      periods = convert_from(substring($2::bytea from n.o + 1 for n.l), 'UTF8')::jsonb
    from unnest($3::uuid[], $4::uuid[], $5::bigint[], $6::integer[], $7::integer[])
      as n (queue_id, recipient_id, cooling_until, o, l)
    where u.tenant_id = $1::uuid and u.queue_id = n.queue_id and u.recipient_id = n.recipient_id`,
);

const keysOf = (tenantId: string, claimers: readonly Claimer[]): unknown[] => [
  tenantId,
  uuidArray(claimers.map(({ queueId }) => queueId)),
  uuidArray(claimers.map(({ recipientId }) => recipientId)),
];

async function locked(
  tx: Queryable,
  tenantId: string,
  claimers: readonly Claimer[],
): Promise<ReadonlyMap<string, Usage>> {
  const { rows } = await tx.query<UsageRow>(LOCK, keysOf(tenantId, claimers));
  return new Map(
    rows.map((row) => {
      const { fixed = {}, rolling = {} } = row.periods;
      return [claimerKey(row.queue_id, row.recipient_id), { coolingUntilUs: row.cooling_until, fixed, rolling }];
    }),
  );
}

/**
 * Locks what recipients have used until the transaction ends, after their accounts, in one order; rows that there are
 * not yet are made. A row comes back as it is once it is locked. By claimerKey.
 */
export async function lockUsage(
  tx: Queryable,
  tenantId: string,
  claimers: readonly Claimer[],
): Promise<ReadonlyMap<string, Usage>> {
  if (claimers.length === 0) return new Map();
  const found = await locked(tx, tenantId, claimers);
  const missing = claimers.filter(({ queueId, recipientId }) => !found.has(claimerKey(queueId, recipientId)));
  if (missing.length === 0) return found;
  // Nobody else makes or locks these rows: their accounts are locked.
  await tx.query(ENSURE, keysOf(tenantId, missing));
  return new Map([...found, ...(await locked(tx, tenantId, missing))]);
}

/** Stores what locked recipients have used now. */
export async function writeUsage(
  tx: Queryable,
  tenantId: string,
  used: readonly (Claimer & { readonly usage: Usage })[],
): Promise<void> {
  if (used.length === 0) return;
  const blob = new BatchBlob();
  const slices = used.map(({ usage: { fixed, rolling } }) =>
    blob.append(Buffer.from(JSON.stringify({ fixed, rolling }), 'utf8')),
  );
  await tx.query(WRITE, [
    tenantId,
    blob.toBuffer(),
    uuidArray(used.map(({ queueId }) => queueId)),
    uuidArray(used.map(({ recipientId }) => recipientId)),
    integerArray(used.map(({ usage }) => usage.coolingUntilUs)),
    integerArray(slices.map(({ offset }) => offset)),
    integerArray(slices.map(({ length }) => length)),
  ]);
}
