/** Why a recipient is no candidate. Every predicate that fails leaves a verdict, in one fixed order. */

/** Verdict codes in the order in which predicates are asked. */
export const VERDICT_CODES = [
  'status_inactive',
  'state_not_available',
  'cooling_down',
  'outside_schedule',
  'not_member',
  'weight_zero',
  'excluded_previous',
  'rule_false',
  'rule_error',
  'skill_missing',
  'dedupe_conflict',
  'at_concurrency',
  'at_daily',
  'cap_reached',
  'over_budget',
  'no_funds',
  'consent_missing',
  'score_error',
  'below_min_score',
  'ejected',
] as const;

/** What a predicate said. A recipient without verdicts is `ok`. */
export type VerdictCode = (typeof VERDICT_CODES)[number];

/** One verdict with what it was decided by: a state, a moment, numbers, names. */
export interface Verdict {
  readonly code: VerdictCode;
  /** `RECIPIENT_STATE_PAUSED`, `used 5 of 5`, `spanish`: for people. */
  readonly detail?: string;
}
