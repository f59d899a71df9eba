/** Work that waits to be claimed. */
import type { BudgetTerms } from '../budget/budget.js';

/** State of an item; docs/claims.md draws how one leads to the next. The last three are ends. */
export type ClaimState = 'open' | 'claimed' | 'completed' | 'expired' | 'withdrawn';

/** A recipient that may claim an item, and the units that it would take. */
export interface Claimant {
  readonly recipientId: string;
  readonly units: number;
}

/** From when on how many more claimants are offered an item. */
export interface ClaimWave {
  /** null: everybody who is left. */
  readonly size: number | null;
  /** After it was queued. */
  readonly afterUs: number;
}

/** By which rules an item is claimed: those of its pool when it was queued. */
export interface ClaimTerms {
  readonly allowsRelease: boolean;
  /** How long a recipient that released an item claims no other one of the queue. */
  readonly cooldownAfterReleaseUs: number;
  readonly budget: BudgetTerms | null;
}

/** An item that is put in a queue. */
export interface NewClaimItem {
  readonly tenantId: string;
  readonly itemId: string;
  readonly queueId: string;
  readonly poolId: string;
  /** The decision that put it there. */
  readonly decisionId: string;
  readonly routableId: string;
  readonly routableType: string;
  readonly channel: string;
  readonly priority: number;
  /** Best first. */
  readonly claimants: readonly Claimant[];
  /** By time; the first begins at once. */
  readonly waves: readonly ClaimWave[];
  readonly terms: ClaimTerms;
  /** JSON of what was asked for: it is decided again when nobody claims it and nobody is told. */
  readonly ask: string;
  /** Who is told what becomes of it (ports.ts); null: nobody. */
  readonly waiter: string | null;
  /** The chain of runs with which it ends, and what is claimed of it; null: it does not end by itself. */
  readonly endsWith: string | null;
  readonly queuedUs: number;
  /** From then on nobody claims it. */
  readonly expiresUs: number;
}

/** An item as it is stored. */
export interface ClaimItem extends Omit<NewClaimItem, 'ask'> {
  readonly state: ClaimState;
  /** Waves that have begun. */
  readonly opened: number;
  /** The first so many claimants are offered it. */
  readonly visible: number;
  /** Claimants that turned it down. */
  readonly declined: readonly string[];
  readonly claimedBy: string | null;
  readonly assignmentId: string | null;
  readonly claimedUs: number | null;
  /** The team whose budget the claim was counted for; null: the claimer's own, or none. */
  readonly claimedFor: string | null;
  /** Who gave it back last. */
  readonly releasedBy: string | null;
  readonly endedUs: number | null;
  /** When to look at it; null: never. */
  readonly nextUs: number | null;
}

/** What an item is to one recipient. */
export type OfferState = 'none' | 'offered' | 'declined' | 'claimed' | 'completed' | 'rescinded' | 'expired';

/** See above. Whoever was offered an item that somebody else has claimed has lost it: the offer is rescinded. */
export function offerTo(item: ClaimItem, recipientId: string): OfferState {
  const { state, claimants, visible, claimedBy, declined } = item;
  if (claimedBy === recipientId) return state === 'completed' ? 'completed' : 'claimed';
  const place = claimants.findIndex((each) => each.recipientId === recipientId);
  if (place === -1 || place >= visible) return 'none';
  if (declined.includes(recipientId)) return 'declined';
  if (state === 'open') return 'offered';
  return state === 'expired' || state === 'withdrawn' ? 'expired' : 'rescinded';
}
