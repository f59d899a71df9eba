/** Recipients from code. */
import type { ChannelCredentials, ClientOptions } from '@grpc/grpc-js';
import { checkNames } from '../connection/field-checks.js';
import {
  CreateRecipientRequest,
  type DeepPartial,
  type ListRecipientsResponse,
  type Recipient,
  RecipientInput,
  RecipientServiceClient,
  RecipientState,
} from '../gen/ductor/v1/recipient.js';
import { Status } from '../gen/ductor/v1/workflow.js';
import type { VersionGuard } from './pools.js';
import { dateOf } from './run-view.js';
import type { PageOptions } from './schedule-options.js';
import { askBy, page, type Setup } from './topology-call.js';
import { type Change, masked } from './update-mask.js';
import { present } from './unary.js';

/** What can be said of a recipient. */
export type RecipientFields = DeepPartial<RecipientInput>;

/** A recipient as it is. */
export interface RecipientView extends Omit<Recipient, 'createdAt' | 'updatedAt'> {
  readonly createdAt: Date | undefined;
  readonly updatedAt: Date | undefined;
}

/** A page of recipients. */
export interface RecipientPage {
  readonly recipients: readonly RecipientView[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/** Which recipients of a pool are listed. */
export interface RecipientListOptions extends PageOptions {
  /** Default: all. */
  readonly status?: Status;
  /** Default: all. */
  readonly state?: RecipientState;
}

/**
 * Calls about recipients. All throw DuctorError: invalid_argument, not_found and more; with `expectedVersion` it is
 * version_conflict when a recipient has changed since.
 */
export interface RecipientCalls {
  /** @param poolId its primary pool */
  create(poolId: string, fields: Omit<RecipientFields, 'poolId'> & { readonly name: string }): Promise<RecipientView>;
  get(recipientId: string): Promise<RecipientView>;
  list(poolId: string, options?: RecipientListOptions): Promise<RecipientPage>;
  /** Changes what is given and nothing else; null clears. Another `poolId` moves it there. */
  update(recipientId: string, change: Change<RecipientFields>, guard?: VersionGuard): Promise<RecipientView>;
  delete(recipientId: string, guard?: VersionGuard): Promise<RecipientView>;
  /** Nothing is routed to it until it is resumed. */
  pause(recipientId: string, reason?: string): Promise<RecipientView>;
  /** Throws recipient_not_paused besides. */
  resume(recipientId: string): Promise<RecipientView>;
}

/** Channels of the calls. */
export interface RecipientChannel {
  readonly calls: RecipientCalls;
  close(): void;
}

const LIST: Readonly<Record<keyof RecipientListOptions, true>> = {
  ...{ status: true, state: true, pageSize: true, cursor: true },
};
const GUARD: Readonly<Record<keyof VersionGuard, true>> = { expectedVersion: true };

function recipientView({ createdAt, updatedAt, ...rest }: Recipient): RecipientView {
  return { ...rest, createdAt: dateOf(createdAt), updatedAt: dateOf(updatedAt) };
}

/** Opens them. */
export function recipientCalls(
  target: string,
  credentials: ChannelCredentials,
  options: ClientOptions,
  setup: Setup,
): RecipientChannel {
  const client = new RecipientServiceClient(target, credentials, options);
  const ask = askBy(setup);
  type Answer = { readonly data: Recipient | undefined };
  const one = async (call: Parameters<typeof ask<Answer>>[0]): Promise<RecipientView> =>
    recipientView(present((await ask<Answer>(call)).data));
  const calls: RecipientCalls = {
    create(poolId, fields) {
      const request = CreateRecipientRequest.fromPartial({ ...fields, poolId });
      return one((...rest) => client.createRecipient(request, ...rest));
    },
    get: (recipientId) => one((...rest) => client.getRecipient({ recipientId }, ...rest)),
    async list(poolId, given = {}) {
      checkNames('list of recipients', given, LIST);
      const { status = Status.STATUS_UNSPECIFIED, state = RecipientState.RECIPIENT_STATE_UNSPECIFIED, ...rest } = given;
      const request = { poolId, status, state, pagination: page(rest) };
      const answer = await ask<ListRecipientsResponse>((...more) => client.listRecipients(request, ...more));
      return { recipients: answer.data.map(recipientView), nextCursor: answer.pagination?.nextCursor || undefined };
    },
    update(recipientId, change, guard = {}) {
      checkNames('update', guard, GUARD);
      const { sent, updateMask } = masked<RecipientFields>(change);
      const recipient = RecipientInput.fromPartial(sent);
      const request = { recipientId, recipient, updateMask, expectedVersion: 0, ...guard };
      return one((...rest) => client.updateRecipient(request, ...rest));
    },
    delete(recipientId, guard = {}) {
      checkNames('deletion', guard, GUARD);
      return one((...rest) => client.deleteRecipient({ recipientId, expectedVersion: 0, ...guard }, ...rest));
    },
    pause: (recipientId, reason = '') => one((...rest) => client.pauseRecipient({ recipientId, reason }, ...rest)),
    resume: (recipientId) => one((...rest) => client.resumeRecipient({ recipientId }, ...rest)),
  };
  return { calls, close: () => client.close() };
}
