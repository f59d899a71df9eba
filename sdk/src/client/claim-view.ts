/** Claim queues and items as callers see them. */
import { type ClaimItem, ClaimOfferState, type ClaimQueue, ClaimState } from '../gen/ductor/v1/claim.js';
import { dateOf } from './run-view.js';

/** State of an item. UNKNOWN: one of an engine that is newer than this SDK. */
export type ClaimStateName = 'OPEN' | 'CLAIMED' | 'COMPLETED' | 'EXPIRED' | 'WITHDRAWN' | 'UNKNOWN';

/** What an item is to one recipient. NONE: it is not offered to it, or not yet. */
export type ClaimOfferName = 'NONE' | 'OFFERED' | 'DECLINED' | 'CLAIMED' | 'COMPLETED' | 'RESCINDED' | 'EXPIRED';

/** A queue as it is. */
export interface ClaimQueueView extends Omit<ClaimQueue, 'createdAt' | 'updatedAt'> {
  readonly createdAt: Date | undefined;
  readonly updatedAt: Date | undefined;
}

/** A recipient to whom an item is offered. */
export interface ClaimOfferView {
  readonly recipientId: string;
  /** Units of its capacity that the item takes. */
  readonly units: number;
  readonly state: ClaimOfferName;
}

/** An item as it is. */
export interface ClaimItemView {
  /** The id of the decision that queued it. */
  readonly id: string;
  readonly queueId: string;
  readonly poolId: string;
  readonly decisionId: string;
  /** Name that its sender has for the work. */
  readonly routableId: string;
  readonly routableType: string;
  readonly channel: string;
  readonly priority: number;
  readonly state: ClaimStateName;
  readonly queuedAt: Date | undefined;
  /** From then on nobody claims it. */
  readonly expiresAt: Date | undefined;
  /** Who has claimed it; undefined: nobody. */
  readonly recipientId: string | undefined;
  /** What the claim made. */
  readonly assignmentId: string | undefined;
  readonly claimedAt: Date | undefined;
  readonly endedAt: Date | undefined;
  /** Recipients that it is offered to by now, of those that may claim it wave by wave. */
  readonly offered: number;
  readonly claimants: number;
  /** What it is to the recipient that a list asked for; else NONE. */
  readonly offer: ClaimOfferName;
  /** Best first; `get` fills it. */
  readonly offers: readonly ClaimOfferView[];
}

const STATES: Readonly<Partial<Record<ClaimState, ClaimStateName>>> = {
  [ClaimState.CLAIM_STATE_OPEN]: 'OPEN',
  [ClaimState.CLAIM_STATE_CLAIMED]: 'CLAIMED',
  [ClaimState.CLAIM_STATE_COMPLETED]: 'COMPLETED',
  [ClaimState.CLAIM_STATE_EXPIRED]: 'EXPIRED',
  [ClaimState.CLAIM_STATE_WITHDRAWN]: 'WITHDRAWN',
};

const OFFERS: Readonly<Partial<Record<ClaimOfferState, ClaimOfferName>>> = {
  [ClaimOfferState.CLAIM_OFFER_STATE_OFFERED]: 'OFFERED',
  [ClaimOfferState.CLAIM_OFFER_STATE_DECLINED]: 'DECLINED',
  [ClaimOfferState.CLAIM_OFFER_STATE_CLAIMED]: 'CLAIMED',
  [ClaimOfferState.CLAIM_OFFER_STATE_COMPLETED]: 'COMPLETED',
  [ClaimOfferState.CLAIM_OFFER_STATE_RESCINDED]: 'RESCINDED',
  [ClaimOfferState.CLAIM_OFFER_STATE_EXPIRED]: 'EXPIRED',
};

const NUMBERS: Readonly<Record<Exclude<ClaimStateName, 'UNKNOWN'>, ClaimState>> = {
  OPEN: ClaimState.CLAIM_STATE_OPEN,
  CLAIMED: ClaimState.CLAIM_STATE_CLAIMED,
  COMPLETED: ClaimState.CLAIM_STATE_COMPLETED,
  EXPIRED: ClaimState.CLAIM_STATE_EXPIRED,
  WITHDRAWN: ClaimState.CLAIM_STATE_WITHDRAWN,
};

/** The number of a state; undefined for what is none. */
export function claimStateNumber(name: string): ClaimState | undefined {
  return Object.hasOwn(NUMBERS, name) ? NUMBERS[name as keyof typeof NUMBERS] : undefined;
}

/** Names of the states that can be asked for. */
export const CLAIM_STATE_NAMES: readonly string[] = Object.keys(NUMBERS);

/** The queue of a message. */
export function queueView({ createdAt, updatedAt, ...rest }: ClaimQueue): ClaimQueueView {
  return { ...rest, createdAt: dateOf(createdAt), updatedAt: dateOf(updatedAt) };
}

/** The item of a message. */
export function itemView(item: ClaimItem): ClaimItemView {
  const { state, offer, offers, recipientId, assignmentId, queuedAt, expiresAt, claimedAt, endedAt, ...rest } = item;
  return {
    ...rest,
    ...{ state: STATES[state] ?? 'UNKNOWN', offer: OFFERS[offer] ?? 'NONE' },
    ...{ recipientId: recipientId || undefined, assignmentId: assignmentId || undefined },
    ...{ queuedAt: dateOf(queuedAt), expiresAt: dateOf(expiresAt) },
    ...{ claimedAt: dateOf(claimedAt), endedAt: dateOf(endedAt) },
    offers: offers.map((each) => ({ ...each, state: OFFERS[each.state] ?? 'NONE' })),
  };
}
