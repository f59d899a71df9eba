/** Counters of recipients that are reset, in memory. */
import type { Counters } from './memory-counters.js';

/** Zeroes what is committed; what is held stays, and what was admitted today. Returns the accounts as they were. */
export function resetIn(
  accounts: Map<string, Counters>,
  recipientIds: readonly string[],
  nowUs: number,
): ReadonlyMap<string, Counters> {
  const before = new Map<string, Counters>();
  for (const id of recipientIds) {
    const account = accounts.get(id);
    if (account === undefined) continue;
    before.set(id, account);
    accounts.set(id, { ...account, committed: 0, dailyCommitted: 0, resetAtUs: nowUs });
  }
  return before;
}
