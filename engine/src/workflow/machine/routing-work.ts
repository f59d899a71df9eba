/** What a ROUTE step asks for, and what it is answered: a decision with its assignments, or why there is none. */
import type { ClaimUntil } from './claim-until.js';
import type { HoldingFamily } from './selecting.js';
import type { QueuedClaim, QueuedWork } from './state.js';

/** Work that is to be routed. */
export interface RoutingWork {
  readonly path: string;
  /** Name or id of the pool; empty: the tenant's rules say which. */
  readonly pool: string;
  readonly routable: unknown;
  /** Ids of recipients that must not get it. */
  readonly excluded: readonly string[];
  /** It is to wait in a claim queue, and its step is told this of it; absent: it is routed, whatever that comes to. */
  readonly until?: ClaimUntil;
  /** The chain, by its first run, with which its assignments end; absent: they do not end by themselves. */
  readonly endsWith?: string;
  /** Whose seats and tiers they are; absent: those of the work itself. */
  readonly family?: HoldingFamily;
}

/** What became of an item that was to be taken out: it is, or somebody has claimed it, or it had ended. */
export type Withdrawal = 'withdrawn' | 'claimed' | 'ended';

/** What became of work that was to be taken out of the queue of a pool: it is, or it had left it. */
export type Unqueued = Exclude<Withdrawal, 'claimed'>;

/** The answer. */
export type RouteAnswer =
  | { readonly kind: 'routed'; readonly output: unknown }
  /** It waits to be claimed, and its step for that. */
  | ({ readonly kind: 'queued' } & Omit<QueuedClaim, 'until'>)
  /** It waits in the queue of a pool, and its step for what it comes to. */
  | ({ readonly kind: 'waiting' } & QueuedWork)
  | {
      readonly kind: 'failed';
      /** The outcome of the decision, or a code of the catalogue where there is none. */
      readonly code: string;
      readonly message: string;
      readonly isRetryable: boolean;
    };
