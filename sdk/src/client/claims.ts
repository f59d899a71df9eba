/** Claims from code: queues, what waits in them, and what recipients do to it. */
import type { ChannelCredentials, ClientOptions } from '@grpc/grpc-js';
import { checkNames, FieldChecks } from '../connection/field-checks.js';
import type { System } from '../connection/system.js';
import {
  type ClaimItem,
  type ClaimQueue,
  ClaimQueueInput,
  ClaimServiceClient,
  ClaimState,
  CreateClaimQueueRequest,
  type DeepPartial,
  type ListClaimItemsResponse,
  type ListClaimQueuesResponse,
} from '../gen/ductor/v1/claim.js';
import { CLAIM_STATE_NAMES, claimStateNumber, itemView, queueView } from './claim-view.js';
import type { ClaimItemView, ClaimQueueView, ClaimStateName } from './claim-view.js';
import { type ClaimHandler, type ClaimWorkOptions, workClaims } from './claim-work.js';
import type { VersionGuard } from './pools.js';
import type { PageOptions } from './schedule-options.js';
import { type Ask, askBy, page, type Setup } from './topology-call.js';
import { type Change, masked } from './update-mask.js';
import { present } from './unary.js';

/** What can be said of a queue. */
export type ClaimQueueFields = DeepPartial<ClaimQueueInput>;

/** A page of queues, by name. */
export interface ClaimQueuePage {
  readonly queues: readonly ClaimQueueView[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/** A page of items, the longest waiting first. */
export interface ClaimItemPage {
  readonly items: readonly ClaimItemView[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/** Which items of a queue are listed. */
export interface ClaimListOptions extends PageOptions {
  /** Default: in any. */
  readonly state?: Exclude<ClaimStateName, 'UNKNOWN'>;
  /** Only what is offered to this recipient or was claimed by it. Default: all. */
  readonly recipientId?: string;
}

/** What goes with a release or a decline. */
export interface ClaimReason {
  /** For the audit trail, at most 1,024 characters. */
  readonly reason?: string;
}

/**
 * Calls about claim queues. All throw DuctorError: invalid_argument, not_found and more; with `expectedVersion` it is
 * version_conflict when a queue has changed since.
 */
export interface ClaimQueueCalls {
  /** Throws claim_queue_exists besides. */
  create(fields: ClaimQueueFields & { readonly name: string }): Promise<ClaimQueueView>;
  get(queueId: string): Promise<ClaimQueueView>;
  list(options?: PageOptions): Promise<ClaimQueuePage>;
  /** Changes what is given and nothing else; null clears. */
  update(queueId: string, change: Change<ClaimQueueFields>, guard?: VersionGuard): Promise<ClaimQueueView>;
  /** Throws claim_queue_in_use besides: work waits there, or is claimed. */
  delete(queueId: string, guard?: VersionGuard): Promise<ClaimQueueView>;
}

/**
 * Calls about claims. All throw DuctorError; doing again what was done is fine and changes nothing, so that each may be
 * repeated when its answer was lost.
 */
export interface ClaimCalls {
  readonly queues: ClaimQueueCalls;
  /** Items of a queue, the longest waiting first. */
  list(queueId: string, options?: ClaimListOptions): Promise<ClaimItemPage>;
  /** One item, with everybody to whom it is offered. Throws not_found. */
  get(itemId: string): Promise<ClaimItemView>;
  /**
   * The recipient takes the item. Throws claim_rescinded (somebody else was first), claim_not_offered,
   * claim_state_conflict, claim_budget_exhausted (`retryAfterMs` says when there is budget again),
   * recipient_capacity_exhausted.
   */
  claim(itemId: string, recipientId: string): Promise<ClaimItemView>;
  /** Who has claimed the item gives it back. Throws claim_state_conflict: it has it not, or may not release. */
  release(itemId: string, recipientId: string, options?: ClaimReason): Promise<ClaimItemView>;
  /** Who has claimed the item has done the work. Throws claim_state_conflict: it has it not. */
  complete(itemId: string, recipientId: string): Promise<ClaimItemView>;
  /** The recipient turns the item down for good. Throws claim_rescinded, claim_not_offered, claim_state_conflict. */
  decline(itemId: string, recipientId: string, options?: ClaimReason): Promise<ClaimItemView>;
  /**
   * Claims for a recipient, one item after the other, out of the 50 that wait longest: what the handler resolves for is
   * completed, what it throws for is released, and not claimed by this loop again. It begins with what the recipient
   * has claimed already, since a process may have died with it: a handler may see an item twice. Asks each
   * `pollMs` while there is nothing to claim, no room or no budget.
   *
   * Resolves when `signal` aborts, with the item that it had released. Throws DuctorError not_found,
   * permission_denied and what else will not pass; an engine that cannot be reached is asked again.
   */
  work(queueId: string, recipientId: string, handler: ClaimHandler, options?: ClaimWorkOptions): Promise<void>;
}

/** Channels of the calls. */
export interface ClaimChannel {
  readonly calls: ClaimCalls;
  close(): void;
}

const PAGE: Readonly<Record<keyof PageOptions, true>> = { pageSize: true, cursor: true };
const LIST: Readonly<Record<keyof ClaimListOptions, true>> = { ...PAGE, state: true, recipientId: true };
const GUARD: Readonly<Record<keyof VersionGuard, true>> = { expectedVersion: true };
const REASON: Readonly<Record<keyof ClaimReason, true>> = { reason: true };

/** The state that is asked for. Throws DuctorError invalid_argument. */
function stateOf(name: string | undefined): ClaimState {
  if (name === undefined) return ClaimState.CLAIM_STATE_UNSPECIFIED;
  const found = claimStateNumber(name);
  if (found !== undefined) return found;
  const checks = new FieldChecks('list of claim items');
  checks.note('state', name, 'is no state of a claim item', `use one of ${CLAIM_STATE_NAMES.join(', ')}`);
  checks.done();
  return ClaimState.CLAIM_STATE_UNSPECIFIED;
}

function queueCalls(client: ClaimServiceClient, ask: Ask): ClaimQueueCalls {
  type Answer = { readonly data: ClaimQueue | undefined };
  const one = async (call: Parameters<typeof ask<Answer>>[0]): Promise<ClaimQueueView> =>
    queueView(present((await ask<Answer>(call)).data));
  return {
    create: (fields) => one((...rest) => client.createClaimQueue(CreateClaimQueueRequest.fromPartial(fields), ...rest)),
    get: (queueId) => one((...rest) => client.getClaimQueue({ queueId }, ...rest)),
    async list(given = {}) {
      checkNames('list of claim queues', given, PAGE);
      const request = { pagination: page(given) };
      const answer = await ask<ListClaimQueuesResponse>((...rest) => client.listClaimQueues(request, ...rest));
      return { queues: answer.data.map(queueView), nextCursor: answer.pagination?.nextCursor || undefined };
    },
    update(queueId, change, guard = {}) {
      checkNames('update', guard, GUARD);
      const { sent, updateMask } = masked<ClaimQueueFields>(change);
      const queue = ClaimQueueInput.fromPartial(sent);
      return one((...rest) =>
        client.updateClaimQueue({ queueId, queue, updateMask, expectedVersion: 0, ...guard }, ...rest),
      );
    },
    delete(queueId, guard = {}) {
      checkNames('deletion', guard, GUARD);
      return one((...rest) => client.deleteClaimQueue({ queueId, expectedVersion: 0, ...guard }, ...rest));
    },
  };
}

function itemCalls(client: ClaimServiceClient, ask: Ask): Omit<ClaimCalls, 'queues' | 'work'> {
  type Answer = { readonly data: ClaimItem | undefined };
  const one = async (call: Parameters<typeof ask<Answer>>[0]): Promise<ClaimItemView> =>
    itemView(present((await ask<Answer>(call)).data));
  return {
    async list(queueId, given = {}) {
      checkNames('list of claim items', given, LIST);
      const { state, recipientId = '', ...rest } = given;
      const request = { queueId, state: stateOf(state), recipientId, pagination: page(rest) };
      const answer = await ask<ListClaimItemsResponse>((...more) => client.listClaimItems(request, ...more));
      return { items: answer.data.map(itemView), nextCursor: answer.pagination?.nextCursor || undefined };
    },
    get: (itemId) => one((...rest) => client.getClaimItem({ itemId }, ...rest)),
    claim: (itemId, recipientId) => one((...rest) => client.claimItem({ itemId, recipientId }, ...rest)),
    release(itemId, recipientId, options = {}) {
      checkNames('release', options, REASON);
      return one((...rest) => client.releaseClaim({ itemId, recipientId, reason: '', ...options }, ...rest));
    },
    complete: (itemId, recipientId) => one((...rest) => client.completeClaim({ itemId, recipientId }, ...rest)),
    decline(itemId, recipientId, options = {}) {
      checkNames('decline', options, REASON);
      return one((...rest) => client.declineClaim({ itemId, recipientId, reason: '', ...options }, ...rest));
    },
  };
}

/** Opens them. */
export function claimCalls(
  target: string,
  credentials: ChannelCredentials,
  options: ClientOptions,
  setup: Setup,
  system: System,
): ClaimChannel {
  const client = new ClaimServiceClient(target, credentials, options);
  const ask = askBy(setup);
  const items = itemCalls(client, ask);
  const calls: ClaimCalls = {
    ...items,
    queues: queueCalls(client, ask),
    work: (queueId, recipientId, handler, given = {}) =>
      workClaims(items, system, { queueId, recipientId, handler, options: given }),
  };
  return { calls, close: () => client.close() };
}
