/** What this room needs of others: somebody who is told, within the transaction, what becomes of items. */
import type { Queryable } from '../store/index.js';
import type { ClaimItem } from './item/claim-item.js';
import { forgetWaiters } from './item/sql/forget-waiters.js';

/** What became of an item. */
export interface ClaimEvent {
  readonly kind: 'claimed' | 'released' | 'completed' | 'expired' | 'withdrawn';
  /** As it is then; `waiter` names whom it concerns. */
  readonly item: ClaimItem;
}

/**
 * Who waits for items. It is told of those that name a waiter, inside the transaction that changes them: what it writes
 * there is committed with the change or not at all. It only inserts: it must lock neither runs nor accounts, whose turn
 * in the order of locks is over by then.
 */
export interface ClaimWaiters {
  /** Returns ids of the items that it waits for no longer: nobody is told any more what becomes of those. */
  told(tx: Queryable, tenantId: string, events: readonly ClaimEvent[]): Promise<readonly string[]>;
}

/** Nobody waits. */
export const NO_WAITERS: ClaimWaiters = { told: async () => [] };

/** Tells who waits, if any of the events concerns anybody; events of several tenants go to each apart. */
export async function tellWaiters(waiters: ClaimWaiters, tx: Queryable, events: readonly ClaimEvent[]): Promise<void> {
  const concerned = events.filter(({ item }) => item.waiter !== null);
  for (const tenantId of new Set(concerned.map(({ item }) => item.tenantId))) {
    const told = concerned.filter(({ item }) => item.tenantId === tenantId);
    await forgetWaiters(tx, tenantId, await waiters.told(tx, tenantId, told));
  }
}
