/** The first k of another strategy, as a slate; with `diversity` no two with the same value of an attribute. */
import type { ParamsOf } from '../../pools/index.js';
import type { Candidate } from '../core/candidate.js';
import { singly, type Strategy } from './strategy.js';
import { orderEquals } from './tie-chain.js';

/** The candidates without those whose attribute has a value that somebody before them has. */
function distinctBy(order: readonly Candidate[], attribute: string): readonly Candidate[] {
  const seen = new Set<unknown>();
  return order.filter(({ attributes }) => {
    const value = Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined;
    if (value !== undefined && seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}

/** top_k */
export function topK(params: ParamsOf<'top_k'>, inner: Strategy): Strategy {
  return (candidates, context, key) => {
    const ranking = inner(candidates, context, `${key}/0`);
    const order = ranking.groups.flatMap((group) => orderEquals(group, context, ranking.ties ?? 'chain'));
    const apart = params.diversity === undefined ? order : distinctBy(order, params.diversity);
    const isShort = params.require === 'exact' && apart.length < params.k;
    return {
      ...ranking,
      groups: isShort ? [] : singly(apart),
      slate: params.k,
      ...(isShort ? { notes: [...(ranking.notes ?? []), `only ${apart.length} of ${params.k}`] } : {}),
    };
  };
}
