import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { Account, Accounts } from '../../authority/decide.js';
import { toAccount, type CountersRow } from '../../authority/sql/account-row.js';

interface AccountRow extends Row, CountersRow {
  readonly recipient_id: string | null;
  readonly day: number;
  readonly max_concurrent: number;
  readonly daily_limit: number;
  readonly now_us: number;
}

const READ = prepared(
  'capacity_read_accounts',
  `select n.now_us, a.recipient_id, a.committed, a.held, a.day, a.daily_committed, a.daily_admitted, a.reset_at,
      (r.fields -> 'capacity' ->> 'max_concurrent')::integer as max_concurrent,
      (r.fields -> 'capacity' ->> 'daily_limit')::integer as daily_limit
    from (select ductor.now_us() as now_us) n
    left join (ductor.capacity_authority a
      join ductor.recipient r on r.tenant_id = a.tenant_id and r.recipient_id = a.recipient_id)
      on a.tenant_id = $1::uuid and a.recipient_id = any($2::uuid[])`,
);

/** Accounts of recipients with their limits as they are now, and the database's time. Call it once they are locked. */
export async function readAccounts(
  tx: Queryable,
  tenantId: string,
  recipientIds: readonly string[],
): Promise<{ readonly accounts: Accounts; readonly nowUs: number }> {
  const { rows } = await tx.query<AccountRow>(READ, [tenantId, uuidArray(recipientIds)]);
  const accounts = new Map<string, Account>();
  for (const row of rows) {
    if (row.recipient_id === null) continue;
    const limits = { maxConcurrent: row.max_concurrent, dailyLimit: row.daily_limit };
    accounts.set(row.recipient_id, { ...toAccount(row), ...limits });
  }
  return { accounts, nowUs: rows[0]?.now_us ?? 0 };
}
