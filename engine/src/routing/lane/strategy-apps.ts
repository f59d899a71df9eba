/** The apps that have strategies in code, as routing sees them: whatever form of the bridge they have. */
import type { RouteAsk } from './ask.js';
import type { Candidate } from '../core/candidate.js';
import type { Member } from '../pipeline/view.js';

/** Whom a strategy would choose. */
export interface StrategyQuestion {
  readonly tenantId: string;
  readonly decisionId: string;
  readonly poolId: string;
  readonly poolName: string;
  readonly name: string;
  /** Empty: any. */
  readonly version: string;
  /** Answers that come later do not count. */
  readonly timeoutMs: number;
  readonly ask: RouteAsk;
  /** In order of their ids. */
  readonly candidates: readonly { readonly candidate: Candidate; readonly member: Member }[];
}

/** What came of it: a ranking as the app sent it, or why there is none. */
export type StrategyReply =
  | { readonly kind: 'ranking'; readonly ids: readonly string[]; readonly by: string }
  | { readonly kind: 'none'; readonly why: string };

/** Asks them. */
export interface StrategyApps {
  /**
   * Asks one app that has the strategy. Never rejects; resolves by the deadline, or when the signal aborts.
   */
  ask(question: StrategyQuestion): Promise<StrategyReply>;
}

/** There are none. */
export const NO_APPS: StrategyApps = {
  ask: () => Promise.resolve({ kind: 'none', why: 'is served by no app' }),
};
