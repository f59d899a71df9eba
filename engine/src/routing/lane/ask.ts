/** What is to be decided, and what can be said of it before anything is looked up. */
import type { CelExpression } from '../../expressions/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { Routable } from '../core/routable.js';
import type { Waited } from '../core/waited.js';
import { ruleScope } from '../pipeline/scope.js';
import type { PoolView } from '../pipeline/view.js';
import { matchRules, type CompiledRule } from '../rules/rule.js';
import { ownerOf } from '../strategies/seat-key.js';
import type { PoolKey } from '../standing/sql/known-keys.js';

/** A unit of work to be routed. */
export interface RouteAsk {
  readonly routable: Routable;
  /** The pool to begin with; undefined: the rules say which. */
  readonly poolId: string | undefined;
  /** Chooses this recipient and no other. */
  readonly recipientId: string | undefined;
  /** Recipients that must not get it. */
  readonly excluded: readonly string[];
  /** Recipients it was offered to before, the last one first. */
  readonly previous: readonly string[];
  /** How often it was put off by a fallback before. Default: never. */
  readonly tried?: number;
  /** Whether it is routed again because somebody was late: clauses that are over by then do not fire once more. */
  readonly isLate?: boolean;
  /** Late work that waited in a queue: clauses that were over by then have been told of, us. Absent: by now. */
  readonly toldUs?: number;
  /** Whether its pool falls back at once, since somebody was late with it. */
  readonly isBreached?: boolean;
  /** How much of their time clocks of this work have stood still before, us. Default: none. */
  readonly pausedUs?: number;
  /** How many recipients of its pool did not take it: they declined, or did not answer. Default: none. */
  readonly offers?: number;
  /** The run at the top of the family that selects. Absent: no workflow does. */
  readonly family?: string;
  /** The chain of runs, by its first one, with which its assignments end. Absent: they do not end by themselves. */
  readonly endsWith?: string;
  /** Claim queues in which nobody claimed it in time: its pool falls back at once. Default: none. */
  readonly expiredIn?: readonly string[];
  /** That it waits, or has waited, in queues of pools. Default: it was in none. */
  readonly waited?: Waited;
}

/** The pool that a decision begins with; undefined when no rule names one. */
export function firstPoolOf(ask: RouteAsk, rules: readonly CompiledRule[], nowUs: number): string | undefined {
  if (ask.poolId !== undefined) return ask.poolId;
  const { rule } = matchRules(rules, ruleScope(ask.routable, nowUs), nowUs);
  return rule?.fields.action === 'drop' ? undefined : rule?.fields.pool_id;
}

/** The key that an expression makes of work; undefined when it fails on it, as the decision will find out itself. */
function keyBy(expression: CelExpression, { routable }: RouteAsk, nowUs: number): string | undefined {
  try {
    return String(expression.evaluate(ruleScope(routable, nowUs)));
  } catch (caught) {
    if (caught instanceof DuctorError && caught.code !== 'internal') return undefined;
    throw caught;
  }
}

/** Keys of the pool's sticky strategies for this work, and of those with seats and tiers. */
export function affinityKeysOf(ask: RouteAsk, { id: poolId, compiled }: PoolView, nowUs: number): readonly PoolKey[] {
  return compiled.affinityKeys.flatMap(({ kind, expression }) => {
    const said = expression === undefined ? undefined : keyBy(expression, ask, nowUs);
    if (expression !== undefined && said === undefined) return [];
    if (kind === '') return said === undefined ? [] : [{ poolId, key: said }];
    const owner = ownerOf(said, ask.family, ask.routable.id);
    return owner === '' ? [] : [{ poolId, key: `${kind}${owner}` }];
  });
}

/** The key by which a pool tells work that comes twice; undefined: it does not, or this work has none. */
export function dedupeKeyOf(ask: RouteAsk, { id: poolId, dedupe }: PoolView, nowUs: number): PoolKey | undefined {
  // Work that is routed again, because it waited, somebody was late or nobody claimed it, is no second piece of work.
  if (dedupe === undefined || ask.isLate === true || ask.expiredIn !== undefined) return undefined;
  if (ask.waited !== undefined) return undefined;
  const key = dedupe.key === undefined ? ask.routable.dedupeKey : keyBy(dedupe.key, ask, nowUs);
  return key === undefined || key === '' ? undefined : { poolId, key };
}
