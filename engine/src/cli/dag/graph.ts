/** A graph to draw: what workflows and runs become before they are laid out. */
import type { Tone } from '../output/paint.js';

/** Sign before a name that tells its state, in both character sets; one column wide. */
export interface Mark {
  readonly unicode: string;
  readonly ascii: string;
  readonly tone: Tone;
}

/** A step. */
export interface DagNode {
  readonly ref: string;
  readonly mark: Mark;
}

/** Which end of the source an edge waits for. */
export type EdgeKind = 'success' | 'failure' | 'always' | 'timeout' | 'compensate';

/** An edge, by refs. */
export interface DagEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
}

/** Steps and edges. A draft may hold edges to nowhere and circles: these edges are left out. */
export interface Dag {
  readonly nodes: readonly DagNode[];
  readonly edges: readonly DagEdge[];
}

/** Edges by source or target. */
export type EdgeIndex = ReadonlyMap<string, readonly DagEdge[]>;

/** Edges by an end of theirs. */
export function edgesBy(edges: readonly DagEdge[], end: 'from' | 'to'): EdgeIndex {
  const index = new Map<string, DagEdge[]>();
  for (const edge of edges) {
    const list = index.get(edge[end]);
    if (list === undefined) index.set(edge[end], [edge]);
    else list.push(edge);
  }
  return index;
}
