/** Which steps have ended for sure once a step has begun: fewer than lead to it, behind joins of any and n_of. */
import type { Join } from '../machine/plan.js';
import type { Graph, GraphEdge } from './graph.js';

/** Steps before another that may still be under way when that one has begun, by pairs. */
export type IsSure = (ref: string, reader: string) => boolean;

/**
 * A step with a join of all begins when all its sources have ended. With n of its edges, a step is sure to have ended
 * only when fewer than n edges come from elsewhere: then one of those that fired came from it or from behind it.
 *
 * @param edges between known steps, repeated ones counted once each
 */
export function surelyEnded(graph: Graph, edges: readonly GraphEdge[], joinOf: (ref: string) => Join): IsSure {
  if (!graph.order.some((ref) => joinOf(ref).mode === 'n_of')) return (ref, reader) => graph.isBefore(ref, reader);
  const incoming = new Map<string, string[]>();
  for (const { source, target } of edges) {
    const list = incoming.get(target);
    if (list === undefined) incoming.set(target, [source]);
    else list.push(source);
  }
  const sure = new Map<string, ReadonlySet<string>>();
  for (const ref of graph.order) {
    const ways = (incoming.get(ref) ?? []).map((source) => new Set([source, ...(sure.get(source) ?? [])]));
    const join = joinOf(ref);
    const all = new Set(ways.flatMap((way) => [...way]));
    const isSure = (one: string): boolean =>
      join.mode === 'all' || ways.filter((way) => !way.has(one)).length < join.count;
    sure.set(ref, new Set([...all].filter(isSure)));
  }
  return (ref, reader) => sure.get(reader)?.has(ref) ?? false;
}
