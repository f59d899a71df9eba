/** The recipient a key was given before, as long as it may be chosen; else by another strategy. State: the binding. */
import type { CelExpression } from '../../expressions/index.js';
import { msOf, type ParamsOf } from '../../pools/index.js';
import type { Candidate, Change } from '../core/candidate.js';
import type { Strategy } from './strategy.js';

/** sticky. A binding never makes anybody eligible: it only says who comes first among those who are. */
export function sticky(params: ParamsOf<'sticky'>, keyOf: CelExpression, inner: Strategy): Strategy {
  return (candidates, context, key) => {
    const affinity = String(context.evaluate(keyOf));
    const binding = context.bindings.get(affinity);
    const isLive = binding !== undefined && binding.expiresUs > context.nowUs;
    const bound = isLive ? candidates.find(({ id }) => id === binding.recipientId) : undefined;
    const expiresUs = context.nowUs + msOf(params.ttl) * 1000;
    const bind = (winner: Candidate): Change => ({ bind: { key: affinity, recipientId: winner.id, expiresUs } });
    if (bound !== undefined) {
      const rest = candidates.filter((each) => each !== bound);
      return {
        groups: [[bound], ...inner(rest, context, `${key}/0`).groups],
        notes: ['bound'],
        settle: (winners) => winners.slice(0, 1).map(bind),
      };
    }
    if (isLive && params.on_ineligible === 'wait') return { groups: [], notes: ['waits for whom it is bound to'] };
    const ranking = inner(candidates, context, `${key}/0`);
    const isKept = isLive && params.on_ineligible === 'fallback_keep';
    return {
      ...ranking,
      notes: [...(ranking.notes ?? []), isKept ? 'binding kept' : 'binds'],
      settle: (winners) => [...(ranking.settle?.(winners) ?? []), ...(isKept ? [] : winners.slice(0, 1).map(bind))],
    };
  };
}
