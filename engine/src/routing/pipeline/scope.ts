/** What expressions see while a decision is made. One object for the whole of a hop: evaluation never keeps it. */
import type { CelExpression } from '../../expressions/index.js';
import type { RecipientFacts } from '../core/candidate.js';
import { routableScope, type Routable } from '../core/routable.js';
import { countsAt } from '../strategies/success-counts.js';
import type { Member, PoolReads } from './view.js';

/** Evaluates expressions over a routable and, one at a time, over recipients. */
export interface Evaluator {
  routable(expression: CelExpression): unknown;
  recipient(expression: CelExpression, member: Member, facts: RecipientFacts, cap: number | undefined): unknown;
}

/** Statistics are forgotten by this half-life where an expression reads them: a day. */
const STATS_HALF_LIFE_US = 86_400_000_000;

function statsOf(facts: RecipientFacts, nowUs: number): Readonly<Record<string, number>> {
  const { successMilli, failureMilli } = countsAt(facts, nowUs, STATS_HALF_LIFE_US);
  const samples = successMilli + failureMilli;
  return {
    success_rate: samples === 0 ? 1 : successMilli / samples,
    samples: samples / 1000,
    latency_ms: facts.latencyUs === undefined ? -1 : facts.latencyUs / 1000,
  };
}

/** The scope of rules and keys. */
export function ruleScope(routable: Routable, nowUs: number): Readonly<Record<string, unknown>> {
  return { routable: routableScope(routable, nowUs), now: new Date(Math.floor(nowUs / 1000)) };
}

/** An evaluator for one hop. */
export function createEvaluator(
  reads: PoolReads,
  given: {
    readonly rules: Readonly<Record<string, unknown>>;
    readonly nowUs: number;
    readonly enrichments: Readonly<Record<string, unknown>>;
  },
): Evaluator {
  const scope: Record<string, unknown> = { ...given.rules, enrichments: given.enrichments };
  return {
    routable: (expression) => expression.evaluate(given.rules),
    recipient: (expression, member, facts, cap) => {
      scope['recipient'] = member.scope;
      if (reads.usesLoad) scope['load'] = { used: facts.held + facts.committed, limit: cap ?? -1 };
      if (reads.usesStats) scope['stats'] = statsOf(facts, given.nowUs);
      return expression.evaluate(scope);
    },
  };
}
