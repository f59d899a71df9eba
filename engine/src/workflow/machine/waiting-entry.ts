/** Entries about work that waits in a queue, for somebody who claims it or in the queue of a pool. */
import type { Entry } from './entries.js';

/** One of them. */
export type WaitingEntry = Extract<
  Entry,
  { readonly kind: 'claim_queued' | 'claim_settling' | 'route_queued' | 'route_settling' }
>;

const KINDS: ReadonlySet<Entry['kind']> = new Set<WaitingEntry['kind']>([
  'claim_queued',
  'claim_settling',
  'route_queued',
  'route_settling',
]);

/** Whether an entry is one of them. */
export function isWaitingEntry(entry: Entry): entry is WaitingEntry {
  return KINDS.has(entry.kind);
}
