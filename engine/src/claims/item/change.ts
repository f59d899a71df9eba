/**
 * What recipients do to items whose rows are locked. Pure; capacity and budgets are asked beside.
 *
 *   open -> claimed -> completed
 *   claimed -> open (released, to be claimed by another one)
 *   claimed -> withdrawn (its assignment was taken away)      open -> expired | withdrawn
 *
 * Invariants: 1. an item is claimed by one recipient at most, and never again once it has ended; 2. only those are
 * granted a claim to whom it is offered; 3. doing again what was done changes nothing.
 */
import { nextLookUs } from './look.js';
import type { ClaimItem } from './claim-item.js';

/** What may be done to an item. */
export type ClaimVerb = 'claim' | 'release' | 'complete' | 'decline';

/** What came of it. */
export type ItemChange =
  | { readonly kind: 'changed'; readonly item: ClaimItem }
  /** It was done before, and that is fine. */
  | { readonly kind: 'unchanged' }
  /** Somebody else has it. */
  | { readonly kind: 'rescinded' }
  /** It is not offered to the recipient; why. */
  | { readonly kind: 'not_offered'; readonly why: string }
  /** It is in no state for it; why. */
  | { readonly kind: 'conflict'; readonly why: string };

const conflict = (why: string): ItemChange => ({ kind: 'conflict', why });

/** An item with its next look worked out. */
function looked(item: ClaimItem, nowUs: number): ItemChange {
  return { kind: 'changed', item: { ...item, nextUs: nextLookUs(item, nowUs) } };
}

/** Why the recipient may not answer to the offer; undefined: it may. */
function barred(item: ClaimItem, recipientId: string, nowUs: number): ItemChange | undefined {
  const { state, claimants, visible, expiresUs, claimedBy } = item;
  if ((state === 'claimed' || state === 'completed') && claimedBy !== recipientId) return { kind: 'rescinded' };
  if (state === 'open' && nowUs >= expiresUs) return conflict('nobody claimed it in time');
  if (state !== 'open') return conflict(`it is ${state}`);
  const place = claimants.findIndex((each) => each.recipientId === recipientId);
  if (place === -1) return { kind: 'not_offered', why: 'it is none of those to whom the item is offered' };
  return place < visible ? undefined : { kind: 'not_offered', why: 'its wave has not begun' };
}

function claim(item: ClaimItem, recipientId: string, nowUs: number): ItemChange {
  if (item.state === 'claimed' && item.claimedBy === recipientId) return { kind: 'unchanged' };
  const refusal = barred(item, recipientId, nowUs);
  if (refusal !== undefined) return refusal;
  if (item.declined.includes(recipientId)) return { kind: 'not_offered', why: 'it has turned the item down' };
  const claimed = { state: 'claimed', claimedBy: recipientId, claimedUs: nowUs, releasedBy: null } as const;
  return looked({ ...item, ...claimed }, nowUs);
}

function decline(item: ClaimItem, recipientId: string, nowUs: number): ItemChange {
  if (item.declined.includes(recipientId)) return { kind: 'unchanged' };
  const refusal = barred(item, recipientId, nowUs);
  if (refusal !== undefined) return refusal;
  return looked({ ...item, declined: [...item.declined, recipientId] }, nowUs);
}

function release(item: ClaimItem, recipientId: string, nowUs: number): ItemChange {
  if (item.state === 'open' && item.releasedBy === recipientId) return { kind: 'unchanged' };
  if (item.state !== 'claimed' || item.claimedBy !== recipientId) return conflict(notIts(item));
  if (!item.terms.allowsRelease) return conflict('its pool lets nobody release (claim.allow_release)');
  const open = { state: 'open', releasedBy: recipientId } as const;
  return looked({ ...item, ...open, claimedBy: null, claimedFor: null, assignmentId: null, claimedUs: null }, nowUs);
}

function complete(item: ClaimItem, recipientId: string, nowUs: number): ItemChange {
  if (item.claimedBy !== recipientId) return conflict(notIts(item));
  if (item.state === 'completed') return { kind: 'unchanged' };
  if (item.state !== 'claimed') return conflict(`it is ${item.state}`);
  return looked({ ...item, state: 'completed', endedUs: nowUs }, nowUs);
}

function notIts({ state, claimedBy }: ClaimItem): string {
  return claimedBy === null ? `it is ${state}, and the recipient has not claimed it` : 'another recipient has it';
}

const VERBS = { claim, release, complete, decline } as const;

/** Does something to a locked item, for a recipient. `nowUs` is the database's time, asked after the lock. */
export function changeItem(verb: ClaimVerb, item: ClaimItem, recipientId: string, nowUs: number): ItemChange {
  return VERBS[verb](item, recipientId, nowUs);
}
