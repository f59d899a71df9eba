/** Successes and failures of a recipient, in thousandths, forgotten by half-life. */
import type { RecipientFacts } from '../core/candidate.js';
import { decay } from '../core/fixed-point.js';

/** Counts in thousandths. */
export interface Counts {
  readonly successMilli: number;
  readonly failureMilli: number;
}

/** Counts as they are worth now. */
export function countsAt(facts: RecipientFacts, nowUs: number, halfLifeUs: number): Counts {
  const elapsed = nowUs - (facts.ratedAtUs ?? nowUs);
  return {
    successMilli: decay(facts.successMilli ?? 0, elapsed, halfLifeUs),
    failureMilli: decay(facts.failureMilli ?? 0, elapsed, halfLifeUs),
  };
}

/** Counts after one more outcome. */
export function afterOutcome(
  facts: RecipientFacts,
  outcome: { readonly atUs: number; readonly isSuccess: boolean },
  halfLifeUs: number,
): Counts & { readonly ratedAtUs: number } {
  const before = countsAt(facts, outcome.atUs, halfLifeUs);
  return {
    successMilli: before.successMilli + (outcome.isSuccess ? 1000 : 0),
    failureMilli: before.failureMilli + (outcome.isSuccess ? 0 : 1000),
    ratedAtUs: Math.max(outcome.atUs, facts.ratedAtUs ?? 0),
  };
}
