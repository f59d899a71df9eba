/** What waits in queues of pools, from code. */
import type { CallOptions, Metadata } from '@grpc/grpc-js';
import { checkNames } from '../connection/field-checks.js';
import {
  type GetWaitingWorkResponse,
  type ListWaitingWorkResponse,
  type RemoveWaitingWorkResponse,
  type RoutingServiceClient,
  WaitingState,
  type WaitingWork,
} from '../gen/ductor/v1/routing.js';
import { dateOf } from './run-view.js';
import type { PageOptions } from './schedule-options.js';
import { page } from './topology-call.js';
import { present, unary } from './unary.js';

/** Work in the queue of a pool. */
export interface WaitingView {
  /** The decision that queued it. */
  readonly decisionId: string;
  /** The decision that queued it first, in any pool. */
  readonly firstDecisionId: string;
  /** Empty: a rule holds it in no pool. */
  readonly poolId: string;
  readonly routableId: string;
  readonly routableType: string;
  readonly channel: string;
  readonly priority: number;
  /** Why it waits, as the last look found. */
  readonly reason: string;
  readonly queuedAt: Date | undefined;
  /** Then it waits no longer. */
  readonly expiresAt: Date | undefined;
  readonly state: 'WAITING' | 'DECIDED' | 'REMOVED' | 'UNKNOWN';
  readonly endedAt: Date | undefined;
  /** The decision that it came to; empty: none. */
  readonly decidedAs: string;
}

/** Which queue: of a pool, or of none, in which rules hold work. */
export interface WaitingListOptions extends PageOptions {
  readonly poolId?: string;
}

/** A page of waiting work. */
export interface WaitingPage {
  readonly waiting: readonly WaitingView[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/** Calls about queues. */
export interface WaitingCalls {
  /** What waits in a queue, in its order. */
  waiting(options?: WaitingListOptions): Promise<WaitingPage>;
  /** Work that waits, or what became of it, by the decision that queued it. */
  waitingWork(decisionId: string): Promise<WaitingView>;
  /** Takes work out of its queue: nothing comes of it. Throws waiting_state_conflict when it came to a decision. */
  removeWaiting(decisionId: string, reason?: string): Promise<WaitingView>;
}

const LIST: Readonly<Record<keyof WaitingListOptions, true>> = { poolId: true, pageSize: true, cursor: true };
const STATES: Readonly<Partial<Record<WaitingState, WaitingView['state']>>> = {
  [WaitingState.WAITING_STATE_WAITING]: 'WAITING',
  [WaitingState.WAITING_STATE_DECIDED]: 'DECIDED',
  [WaitingState.WAITING_STATE_REMOVED]: 'REMOVED',
};

function waitingView({ state, queuedAt, expiresAt, endedAt, ...rest }: WaitingWork): WaitingView {
  const times = { queuedAt: dateOf(queuedAt), expiresAt: dateOf(expiresAt), endedAt: dateOf(endedAt) };
  return { ...rest, ...times, state: STATES[state] ?? 'UNKNOWN' };
}

/** Opens them. */
export function waitingCalls(
  client: RoutingServiceClient,
  setup: () => { readonly metadata: Metadata; readonly options: CallOptions },
): WaitingCalls {
  return {
    async waiting(options = {}) {
      checkNames('list of waiting work', options, LIST);
      const { poolId = '', ...rest } = options;
      const { metadata, options: call } = setup();
      const request = { poolId, pagination: page(rest) };
      const { data, pagination } = await unary<ListWaitingWorkResponse>((done) =>
        client.listWaitingWork(request, metadata, call, done),
      );
      return { waiting: data.map(waitingView), nextCursor: pagination?.nextCursor || undefined };
    },
    async waitingWork(decisionId) {
      const { metadata, options: call } = setup();
      const { data } = await unary<GetWaitingWorkResponse>((done) =>
        client.getWaitingWork({ decisionId }, metadata, call, done),
      );
      return waitingView(present(data));
    },
    async removeWaiting(decisionId, reason = '') {
      const { metadata, options: call } = setup();
      const { data } = await unary<RemoveWaitingWorkResponse>((done) =>
        client.removeWaitingWork({ decisionId, reason }, metadata, call, done),
      );
      return waitingView(present(data));
    },
  };
}
