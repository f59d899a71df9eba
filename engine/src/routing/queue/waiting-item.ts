/** Work that waits in the queue of a pool. */
import type { RouteAsk } from '../lane/ask.js';

/** Stands for no pool where the table needs one. */
export const NO_POOL = '00000000-0000-0000-0000-000000000000';

/** A place in the order of a queue: higher ones first, by rank, place, id. Numbers beyond what JS counts exactly. */
export interface QueuePlace {
  readonly rank: string;
  readonly place: string;
  readonly decisionId: string;
}

/** Work that is to be looked at. */
export interface WaitingItem extends QueuePlace {
  /** NO_POOL: a rule holds it in none. */
  readonly poolId: string;
  /** The key that asked for it. */
  readonly principalId: string;
  readonly priority: number;
  readonly queuedUs: number;
  /** From when the clock of an SLA counts that begins when work comes in. */
  readonly clockUs: number;
  readonly expiresUs: number;
  readonly ask: RouteAsk;
  /** Pools that its decision came to. */
  readonly reach: readonly string[];
  readonly reason: string;
  /** Who is told what it comes to; null: nobody. */
  readonly waiter: string | null;
}

/** What waiting work is now. */
export type WaitingState = 'waiting' | 'decided' | 'removed';

/** Waiting work as users see it. */
export interface WaitingWork {
  readonly decisionId: string;
  readonly firstId: string;
  readonly poolId: string;
  readonly routableId: string;
  readonly routableType: string;
  readonly channel: string;
  readonly priority: number;
  readonly reason: string;
  readonly queuedUs: number;
  readonly expiresUs: number;
  readonly state: WaitingState;
  readonly endedUs: number | null;
  readonly decidedAs: string | null;
}

/** Work that begins to wait. */
export interface NewWaiting {
  readonly decisionId: string;
  readonly firstId: string;
  readonly poolId: string;
  readonly principalId: string;
  readonly routableId: string;
  readonly routableType: string;
  readonly channel: string;
  readonly priority: number;
  /** JSON of what was asked for. */
  readonly ask: string;
  readonly reach: readonly string[];
  readonly reason: string;
  readonly queuedUs: number;
  readonly clockUs: number;
  readonly expiresUs: number;
  readonly nextUs: number;
  readonly ordering: string;
  readonly ageWeight: number;
  readonly boost: number;
  readonly waiter: string | null;
  /** The chain with which it ends; null: it does not end by itself. */
  readonly endsWith: string | null;
}
