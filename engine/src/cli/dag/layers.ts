/**
 * Layers: every node one below the lowest of its sources, and bends where an edge passes a layer. Edges of one source
 * share their bends, so that a source has at most one line through a layer.
 */
import { type Dag, type DagEdge, type DagNode, edgesBy, type EdgeKind } from './graph.js';

/** A place in a layer: a node, or the bend of edges that pass through. */
export interface Slot {
  readonly key: string;
  /** undefined: a bend. */
  readonly node: DagNode | undefined;
}

/** A line from a slot to one of the next layer. */
export interface Link {
  readonly from: string;
  readonly to: string;
  /** undefined: it ends at a bend. */
  readonly kind: EdgeKind | undefined;
}

/** A graph in layers. links[i] lead from layers[i] to layers[i + 1]. */
export interface Layered {
  readonly layers: readonly (readonly Slot[])[];
  readonly links: readonly (readonly Link[])[];
}

/** Layer of each node that is on no circle, and the edges between them that count. */
interface Depths {
  readonly depth: ReadonlyMap<string, number>;
  readonly edges: readonly DagEdge[];
}

/** Two edges between the same steps are drawn as one: together they wait for any end. */
function unique(edges: readonly DagEdge[]): DagEdge[] {
  const byEnds = new Map<string, DagEdge>();
  for (const edge of edges) {
    const key = `${edge.from}\0${edge.to}`;
    const known = byEnds.get(key);
    byEnds.set(key, known === undefined || known.kind === edge.kind ? edge : { ...edge, kind: 'always' });
  }
  return [...byEnds.values()];
}

/** Sources before targets. What is left at the end is on a circle or behind one: it goes in as if it had no source. */
function depths({ nodes, edges }: Dag): Depths {
  const refs = new Set(nodes.map(({ ref }) => ref));
  const real = unique(edges.filter(({ from, to }) => refs.has(from) && refs.has(to) && from !== to));
  const outgoing = edgesBy(real, 'from');
  const missing = new Map(nodes.map(({ ref }) => [ref, 0]));
  for (const { to } of real) missing.set(to, (missing.get(to) ?? 0) + 1);
  const depth = new Map<string, number>();
  const queue = nodes.map(({ ref }) => ref).filter((ref) => missing.get(ref) === 0);
  const waiting = new Set(nodes.map(({ ref }) => ref).filter((ref) => missing.get(ref) !== 0));
  const least = new Map<string, number>();
  const kept: DagEdge[] = [];
  for (let at = 0; at < queue.length || waiting.size > 0; at += 1) {
    let ref = queue[at];
    if (ref === undefined) {
      [ref = ''] = waiting;
      waiting.delete(ref);
      queue.push(ref);
    }
    const own = least.get(ref) ?? 0;
    depth.set(ref, own);
    for (const edge of outgoing.get(ref) ?? []) {
      if (depth.has(edge.to)) continue;
      kept.push(edge);
      least.set(edge.to, Math.max(least.get(edge.to) ?? 0, own + 1));
      missing.set(edge.to, (missing.get(edge.to) ?? 1) - 1);
      if (missing.get(edge.to) === 0 && waiting.delete(edge.to)) queue.push(edge.to);
    }
  }
  return { depth, edges: kept };
}

/** Key of the bend that the edges of a source share in a layer. */
export const bendKey = (source: string, layer: number): string => `\0${layer} ${source}`;

/** The graph in layers, each in the order of the definition. */
export function layersOf(dag: Dag): Layered {
  const { depth, edges } = depths(dag);
  const count = dag.nodes.length === 0 ? 0 : Math.max(...depth.values()) + 1;
  const layers: Slot[][] = Array.from({ length: count }, () => []);
  const links: Link[][] = Array.from({ length: Math.max(0, count - 1) }, () => []);
  for (const node of dag.nodes) layers[depth.get(node.ref) ?? 0]?.push({ key: node.ref, node });
  const bends = new Set<string>();
  for (const { from, to, kind } of edges) {
    const end = depth.get(to) ?? 0;
    let last = from;
    for (let layer = (depth.get(from) ?? 0) + 1; layer < end; layer += 1) {
      const bend = bendKey(from, layer);
      if (!bends.has(bend)) {
        bends.add(bend);
        layers[layer]?.push({ key: bend, node: undefined });
        links[layer - 1]?.push({ from: last, to: bend, kind: undefined });
      }
      last = bend;
    }
    links[end - 1]?.push({ from: last, to, kind });
  }
  return { layers, links };
}
