import type { Account } from '../decide.js';
import type { Counters } from '../counters.js';

/** Columns of an account, as they are counted. */
export interface CountersRow {
  readonly committed: number;
  readonly held: number;
  readonly daily_committed: number;
  readonly daily_admitted: number;
  readonly reset_at: number | null;
}

/** The counters that a row holds. */
export function toCounters(row: CountersRow): Counters {
  return {
    ...{ committed: row.committed, held: row.held, dailyCommitted: row.daily_committed },
    ...{ dailyAdmitted: row.daily_admitted, resetAtUs: row.reset_at },
  };
}

/** The account that a row holds; its limits stand with the recipient. */
export function toAccount(row: CountersRow & { readonly day: number }): Omit<Account, 'maxConcurrent' | 'dailyLimit'> {
  return { ...toCounters(row), day: row.day };
}
