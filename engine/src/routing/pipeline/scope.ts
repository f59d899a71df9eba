/** What expressions see while a decision is made. One object for the whole of a hop: evaluation never keeps it. */
import type { CelExpression } from '../../expressions/index.js';
import type { RecipientFacts } from '../core/candidate.js';
import { routableScope, type Routable } from '../core/routable.js';
import { countsAt } from '../strategies/success-counts.js';
import type { Member, PoolReads } from './view.js';

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

/** Evaluates the expressions of one hop: over the routable and, one at a time, over recipients. */
export class Evaluator {
  readonly #rules: Readonly<Record<string, unknown>>;
  readonly #scope: {
    readonly routable: unknown;
    readonly now: unknown;
    readonly enrichments: unknown;
    recipient: unknown;
    load: unknown;
    stats: unknown;
  };

  constructor(
    readonly reads: PoolReads,
    rules: Readonly<Record<string, unknown>>,
    readonly nowUs: number,
    enrichments: Readonly<Record<string, unknown>>,
  ) {
    const { routable, now } = rules;
    this.#rules = rules;
    this.#scope = { routable, now, enrichments, recipient: null, load: null, stats: null };
  }

  /** Of an expression that reads no recipient. */
  routable(expression: CelExpression): unknown {
    return expression.evaluate(this.#rules);
  }

  /** Of an expression over one recipient. */
  recipient(expression: CelExpression, member: Member, facts: RecipientFacts, cap: number | undefined): unknown {
    const scope = this.#scope;
    scope.recipient = member.scope;
    if (this.reads.usesLoad) scope.load = { used: facts.held + facts.committed, limit: cap ?? -1 };
    if (this.reads.usesStats) scope.stats = statsOf(facts, this.nowUs);
    return expression.evaluate(scope);
  }
}
