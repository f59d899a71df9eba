/**
 * The seat that an owner has, as long as it may be chosen; else another one, and that is its seat from then on. State:
 * the binding; that somebody tries a seat whose rate limit has passed.
 *
 *   free -> limited (filter.ts leaves it out) -> to be tried -> being tried -> free | limited, for longer
 *
 * Invariants: 1. nobody is bound to a seat but by being given it; 2. a seat that is being tried is given to nobody else
 * (filter.ts, too); 3. a seat of weight 0 is given to those alone who have it.
 */
import type { CelExpression } from '../../expressions/index.js';
import { msOf, type ParamsOf } from '../../pools/index.js';
import type { Candidate, Change } from '../core/candidate.js';
import { bindingOf, expiryFor, ownerIn } from './seat-key.js';
import type { Strategy } from './strategy.js';

/** Whether a candidate had a rate limit, and nobody knows yet that it works again. */
function isUntried({ facts }: Candidate, nowUs: number): boolean {
  return (facts.limitEpisode ?? 0) > 0 && (facts.probeUntilUs ?? 0) <= nowUs;
}

/** seat_affinity */
export function seatAffinity(
  params: ParamsOf<'seat_affinity'>,
  keyOf: CelExpression | undefined,
  inner: Strategy,
): Strategy {
  const [ttlUs, probeUs] = [msOf(params.ttl) * 1000, msOf(params.probe_timeout) * 1000];
  const probes = params.recovery === 'probe';
  return (candidates, context, key) => {
    const { nowUs } = context;
    const owner = ownerIn(context, keyOf);
    const before = bindingOf(context, 'seat/', owner);
    const bound = before === undefined ? undefined : candidates.find(({ id }) => id === before.recipientId);
    const expiresUs = expiryFor(context, owner, ttlUs);
    const bind = ({ id: recipientId }: Candidate): readonly Change[] => {
      const isKnown = before?.recipientId === recipientId && before.expiresUs >= expiresUs;
      return owner === '' || isKnown ? [] : [{ bind: { key: `seat/${owner}`, owner, recipientId, expiresUs } }];
    };
    const left = (winners: readonly Candidate[]): readonly Change[] => {
      const tried = probes ? winners.filter((each) => isUntried(each, nowUs)) : [];
      const probed = tried.map(({ id: recipientId }) => ({ probe: { recipientId, untilUs: nowUs + probeUs } }));
      return [...winners.slice(0, 1).flatMap(bind), ...probed];
    };
    const others = candidates.filter((each) => each !== bound && each.weightMilli > 0);
    const ranking = inner(others, context, `${key}/0`);
    if (bound !== undefined) return { groups: [[bound], ...ranking.groups], notes: ['has its seat'], settle: left };
    return {
      ...ranking,
      notes: [...(ranking.notes ?? []), owner === '' ? 'for nobody in particular' : 'takes a seat'],
      settle: (winners) => [...(ranking.settle?.(winners) ?? []), ...left(winners)],
    };
  };
}
