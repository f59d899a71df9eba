/** Decisions as they are stored. */
import type { Decision } from '../../pipeline/decision.js';

/** A decision without its record. */
export interface StoredDecision {
  readonly decisionId: string;
  readonly decidedAtUs: number;
  readonly outcome: string;
  readonly outcomeClass: string;
  /** null: a success. */
  readonly reason: string | null;
  readonly poolId: string | null;
  readonly ruleId: string | null;
  readonly routableId: string;
  /** The first decision about the same work, for duplicates. */
  readonly duplicateOf: string | null;
  readonly retryAtUs: number | null;
  /** The decision that queued the work first, where it has waited in queues of pools. */
  readonly queuedBy: string | null;
  readonly slate: readonly { readonly id: string; readonly units: number }[];
  /** One for each of the slate. */
  readonly assignmentIds: readonly string[];
}

/** A decision with what is kept of it. */
export interface RecordedDecision extends StoredDecision {
  /** The key that asked. */
  readonly principalId: string;
  readonly record: Buffer;
  /** Digests of the documents that the record names. */
  readonly documents: readonly string[];
  /** From then on it may be deleted. */
  readonly expiresAtUs: number;
}

/** What a decision comes to, without its record. */
export function storedDecisionOf(decision: Decision, assignmentIds: readonly string[]): StoredDecision {
  const { input, rules } = decision;
  // Written out: it is made for every decision, and objects spread together are slow.
  return {
    decisionId: input.decisionId,
    decidedAtUs: input.nowUs,
    routableId: input.routable.id,
    outcome: decision.outcome,
    outcomeClass: decision.outcomeClass,
    reason: decision.reason ?? null,
    poolId: decision.poolId ?? null,
    ruleId: rules.rule?.id ?? null,
    duplicateOf: input.duplicateOf ?? null,
    retryAtUs: decision.retryAtUs ?? null,
    slate: decision.slate,
    assignmentIds,
    queuedBy: input.waited?.firstId ?? null,
  };
}
