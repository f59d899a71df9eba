/** One choice: a strategy's ranking with every tie decided, and what it leaves behind. */
import type { Candidate, Change, Context, PoolState } from '../core/candidate.js';
import type { Ranking, Strategy } from './strategy.js';
import { orderEquals } from './tie-chain.js';

/** What a choice came to. */
export interface Selection {
  /** Everybody who was ranked, best first. */
  readonly order: readonly Candidate[];
  /** The first of them, as many as the slate has. Empty: nobody. */
  readonly slate: readonly Candidate[];
  readonly ranking: Ranking;
  /** What is to be kept once the slate is admitted. */
  readonly changes: readonly Change[];
}

/** Key under which the state of a pool's strategy stands; its parts add their places to it. */
const ROOT = 'root';
const TIE_BREAK = 'tie';

/** Everybody of a ranking in order: groups as they come, within them the pool's tie break, then the chain. */
function orderOf(ranking: Ranking, context: Context, tieBreak: Strategy | undefined): readonly Candidate[] {
  const order: Candidate[] = [];
  for (const group of ranking.groups) {
    const equals = group.length < 2 ? group : orderGroup(group, ranking, context, tieBreak);
    for (const each of equals) order.push(each);
  }
  return order;
}

function orderGroup(
  group: readonly Candidate[],
  ranking: Ranking,
  context: Context,
  tieBreak: Strategy | undefined,
): readonly Candidate[] {
  if (tieBreak === undefined) return orderEquals(group, context, ranking.ties ?? 'chain');
  const decided = tieBreak(group, context, TIE_BREAK);
  const order = decided.groups.flatMap((each) => orderEquals(each, context, decided.ties ?? 'chain'));
  const left = group.filter((each) => !order.includes(each));
  return [...order, ...orderEquals(left, context, 'chain')];
}

/**
 * Chooses a slate.
 *
 * @param candidates in order of their ids; those of weight 0 are never chosen, but by work that is bound to them
 * @param options.slateSize unless the strategy says how many; default 1
 */
export function select(
  strategy: Strategy,
  candidates: readonly Candidate[],
  context: Context,
  options: { readonly slateSize?: number; readonly tieBreak?: Strategy | undefined } = {},
): Selection {
  const hasDrained = candidates.some(({ weightMilli }) => weightMilli === 0);
  const eligible = hasDrained ? candidates.filter(({ weightMilli, isKept }) => weightMilli > 0 || isKept) : candidates;
  const ranking = strategy(eligible, context, ROOT);
  const order = orderOf(ranking, context, options.tieBreak);
  const slate = order.slice(0, ranking.slate ?? options.slateSize ?? 1);
  return { order, slate, ranking, changes: slate.length === 0 ? [] : (ranking.settle?.(slate) ?? []) };
}

/** The state of a pool's strategies after changes. Bindings are not part of it. */
export function afterChanges(state: PoolState, changes: readonly Change[]): PoolState {
  const next: Record<string, PoolState[string]> = { ...state };
  for (const { key, state: changed } of changes) if (key !== undefined && changed !== undefined) next[key] = changed;
  return next;
}
