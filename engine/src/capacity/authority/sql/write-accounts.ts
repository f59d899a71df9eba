import { integerArray, prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { Account } from '../decide.js';

/** What becomes of a locked account. */
export interface AccountChange {
  readonly recipientId: string;
  readonly account: Account;
  /** When it was last given work, microseconds since 1970; null: as before. */
  readonly lastAssignedUs: number | null;
  /** When work of it last ended; null: as before. */
  readonly lastReleasedUs: number | null;
}

const WRITE = prepared(
  'capacity_write_accounts',
  `update ductor.capacity_authority a
    set committed = n.committed, held = n.held, day = n.day, daily_committed = n.daily_committed,
      daily_admitted = n.daily_admitted, last_assigned_at = coalesce(n.assigned_at, a.last_assigned_at),
      last_released_at = coalesce(n.released_at, a.last_released_at)
    from unnest($2::uuid[], $3::integer[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $8::bigint[],
      $9::bigint[]) as n (recipient_id, committed, held, day, daily_committed, daily_admitted, assigned_at, released_at)
    where a.tenant_id = $1::uuid and a.recipient_id = n.recipient_id`,
);

/** Stores what locked accounts are now. */
export async function writeAccounts(tx: Queryable, tenantId: string, changes: readonly AccountChange[]): Promise<void> {
  if (changes.length === 0) return;
  const column = (valueOf: (change: AccountChange) => number | null): string => integerArray(changes.map(valueOf));
  await tx.query(WRITE, [
    tenantId,
    uuidArray(changes.map(({ recipientId }) => recipientId)),
    column(({ account }) => account.committed),
    column(({ account }) => account.held),
    column(({ account }) => account.day),
    column(({ account }) => account.dailyCommitted),
    column(({ account }) => account.dailyAdmitted),
    column(({ lastAssignedUs }) => lastAssignedUs),
    column(({ lastReleasedUs }) => lastReleasedUs),
  ]);
}
