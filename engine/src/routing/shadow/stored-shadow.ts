/** Comparisons as they are stored. */
import type { Comparison } from './compare.js';

/** One comparison. */
export interface ShadowDecision extends Omit<Comparison, 'changes'> {
  readonly decisionId: string;
  readonly poolId: string;
  readonly shadowId: string;
  readonly strategy: string;
  readonly decidedAtUs: number;
  /** How long it took, us. */
  readonly tookUs: number;
  /** Version of the shadow's state that it chose by. */
  readonly stateVersion: number;
}

/** What shadows came to over a time. */
export interface ShadowReport {
  readonly shadowId: string;
  readonly strategy: string;
  readonly decisions: number;
  readonly agreed: number;
  readonly errors: number;
  readonly wouldFallBack: number;
  readonly meanJaccardMilli: number;
  /** null: of no decision did both rank two. */
  readonly meanTauMilli: number | null;
  /** Jain's index of how evenly winners share the work, over all recipients of the pool, thousandths. */
  readonly liveJainMilli: number;
  readonly shadowJainMilli: number;
  /** Sums over decisions whose winners both have a cost, and how many they are. */
  readonly costed: number;
  readonly liveCostMicros: bigint;
  readonly shadowCostMicros: bigint;
  /** Decisions with a deadline, and those of them whose winner is predicted to miss it. */
  readonly withDeadline: number;
  readonly liveBreaches: number;
  readonly shadowBreaches: number;
}
