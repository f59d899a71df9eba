/**
 * Tiers of models: retries climb, and tiers that succeed too seldom are passed. State: the highest tier that an owner
 * has come to, which it goes below only while nobody from there on may be chosen; and how work of each recipient ended,
 * counted by the reports (outcome-counts.ts).
 */
import type { CelExpression } from '../../expressions/index.js';
import { msOf, type ParamsOf } from '../../pools/index.js';
import type { Candidate, Change, Context } from '../core/candidate.js';
import { countsOf } from './outcome-counts.js';
import { bindingOf, expiryFor, ownerIn } from './seat-key.js';
import type { Ranking, Strategy } from './strategy.js';

/** Expressions of the strategy. */
export interface EscalationExpressions {
  readonly key: CelExpression | undefined;
  readonly attempt: CelExpression;
}

/** The tiers of a pool, the lowest first, whoever may be chosen. */
function tiersOf({ members }: Context): readonly number[] {
  return [...new Set(members.values())].sort((a, b) => a - b);
}

/** The lowest tier that an attempt may begin at. */
function firstTier(context: Context, { start, step }: ParamsOf<'escalate_on_retry'>, attempt: number): number {
  const tiers = tiersOf(context);
  const whole = Number.isFinite(attempt) ? Math.max(0, Math.floor(attempt)) : 0;
  return tiers[Math.min(start + step * whole, tiers.length - 1)] ?? 0;
}

/** escalate_on_retry */
export function escalateOnRetry(
  params: ParamsOf<'escalate_on_retry'>,
  { key: keyOf, attempt: attemptOf }: EscalationExpressions,
  inner: Strategy,
): Strategy {
  const ttlUs = msOf(params.ttl) * 1000;
  const { min_samples: minSamples, min_success_rate: minRate } = params;
  return (candidates, context, key): Ranking => {
    if (candidates.length === 0) return { groups: [] };
    const owner = ownerIn(context, keyOf);
    const before = bindingOf(context, 'tier/', owner);
    const reached = before?.tier ?? Number.NEGATIVE_INFINITY;
    const from = Math.max(firstTier(context, params, Number(context.evaluate(attemptOf))), reached);
    const counts = countsOf(context.state);
    const isGood = ({ id }: Candidate): boolean => {
      const { samples, successes } = counts(id);
      return samples < minSamples || successes / samples >= minRate;
    };
    const good = candidates.filter((each) => each.tier >= from && isGood(each));
    // Nobody is good enough: the highest that there is, whatever it is worth.
    const lowest = Math.min(...good.map(({ tier }) => tier));
    const tier = good.length > 0 ? lowest : Math.max(...candidates.map((each) => each.tier));
    const chosen = (good.length > 0 ? good : candidates).filter((each) => each.tier === tier);
    const ranking = inner(chosen, context, `${key}/0`);
    const expiresUs = expiryFor(context, owner, ttlUs);
    const climb = (winner: Candidate): readonly Change[] => {
      const highest = Math.max(winner.tier, reached);
      const isKnown = highest === reached && (before?.expiresUs ?? 0) >= expiresUs;
      if (owner === '' || isKnown) return [];
      return [{ bind: { key: `tier/${owner}`, owner, recipientId: winner.id, tier: highest, expiresUs } }];
    };
    return {
      ...ranking,
      notes: [...(ranking.notes ?? []), `tier ${tier}`],
      settle: (winners) => [...(ranking.settle?.(winners) ?? []), ...winners.slice(0, 1).flatMap(climb)],
    };
  };
}
