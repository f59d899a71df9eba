/** Claim queues and their items as messages. */
import {
  ClaimOfferState as Offer,
  ClaimState as State,
  type ClaimItem as ItemMessage,
  type ClaimQueue as QueueMessage,
} from '../../../gen/ductor/v1/claim.js';
import { offerTo, type ClaimItem, type ClaimQueue, type ClaimState, type OfferState } from '../../../claims/index.js';
import { timestampOf } from './timestamp.js';

/** States of items by name. */
export const CLAIM_STATES: Readonly<Record<ClaimState, State>> = {
  open: State.CLAIM_STATE_OPEN,
  claimed: State.CLAIM_STATE_CLAIMED,
  completed: State.CLAIM_STATE_COMPLETED,
  expired: State.CLAIM_STATE_EXPIRED,
  withdrawn: State.CLAIM_STATE_WITHDRAWN,
};

const OFFER_STATES: Readonly<Record<OfferState, Offer>> = {
  none: Offer.CLAIM_OFFER_STATE_UNSPECIFIED,
  offered: Offer.CLAIM_OFFER_STATE_OFFERED,
  declined: Offer.CLAIM_OFFER_STATE_DECLINED,
  claimed: Offer.CLAIM_OFFER_STATE_CLAIMED,
  completed: Offer.CLAIM_OFFER_STATE_COMPLETED,
  rescinded: Offer.CLAIM_OFFER_STATE_RESCINDED,
  expired: Offer.CLAIM_OFFER_STATE_EXPIRED,
};

const timeOf = (us: number | null) => (us === null ? undefined : timestampOf(us));

/** A queue as a message. */
export function queueMessage({ id, version, fields, createdAtUs, updatedAtUs }: ClaimQueue): QueueMessage {
  const { name, description, metadata } = fields;
  return {
    ...{ id, name, description, metadata: { ...metadata }, recordVersion: version },
    ...{ createdAt: timestampOf(createdAtUs), updatedAt: timestampOf(updatedAtUs) },
  };
}

/**
 * An item as a message.
 *
 * @param recipientId says what the item is to this one. Default: it says it of nobody
 */
export function itemMessage(item: ClaimItem, recipientId?: string): ItemMessage {
  const { itemId: id, queueId, poolId, decisionId, routableId, routableType, channel, priority, state } = item;
  const { queuedUs, expiresUs, claimedBy, assignmentId, claimedUs, endedUs, visible: offered, claimants } = item;
  return {
    ...{ id, queueId, poolId, decisionId, routableId, routableType, channel, priority, state: CLAIM_STATES[state] },
    ...{ queuedAt: timestampOf(queuedUs), expiresAt: timestampOf(expiresUs), recipientId: claimedBy ?? '' },
    ...{ assignmentId: assignmentId ?? '', claimedAt: timeOf(claimedUs), endedAt: timeOf(endedUs) },
    ...{ offered, claimants: claimants.length, offers: [] },
    offer: recipientId === undefined ? OFFER_STATES.none : OFFER_STATES[offerTo(item, recipientId)],
  };
}

/** An item with everybody to whom it is offered. */
export function wholeItemMessage(item: ClaimItem): ItemMessage {
  return {
    ...itemMessage(item),
    offers: item.claimants.slice(0, item.visible).map(({ recipientId, units }) => {
      return { recipientId, units, state: OFFER_STATES[offerTo(item, recipientId)] };
    }),
  };
}
