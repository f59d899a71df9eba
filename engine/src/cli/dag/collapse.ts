/** Steps with the same sources and targets, drawn as one: what a fan-out of many like steps becomes. */
import { type Dag, type DagEdge, type DagNode, edgesBy, type Mark } from './graph.js';

/** So many alike are worth drawing as one. */
const LEAST_ALIKE = 3;
/** The mark of a group is that of the member that needs most attention. */
const URGENCY: Readonly<Record<Mark['tone'], number>> = {
  bad: 6,
  warning: 5,
  active: 4,
  strong: 3,
  plain: 2,
  quiet: 1,
  good: 0,
};

const ends = (edges: readonly DagEdge[] | undefined, end: 'from' | 'to'): string =>
  (edges ?? [])
    .map((edge) => `${edge[end]}\0${edge.kind}`)
    .sort()
    .join('\n');

function urgent(members: readonly DagNode[]): Mark {
  const [first, ...others] = members;
  const start = first?.mark ?? { unicode: ' ', ascii: ' ', tone: 'plain' };
  return others.reduce((most, { mark }) => (URGENCY[mark.tone] > URGENCY[most.tone] ? mark : most), start);
}

/** How many members have each mark, most frequent first: "48✓ 2✗". */
export function tally(members: readonly DagNode[], isUnicode: boolean): string {
  const counts = new Map<string, number>();
  for (const { mark } of members) {
    const sign = isUnicode ? mark.unicode : mark.ascii;
    counts.set(sign, (counts.get(sign) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([sign, count]) => `${count}${sign}`)
    .join(' ');
}

/** The graph with groups of like steps in place of their members. */
export function collapse({ nodes, edges }: Dag): Dag {
  const [incoming, outgoing] = [edgesBy(edges, 'to'), edgesBy(edges, 'from')];
  const groups = new Map<string, DagNode[]>();
  for (const node of nodes) {
    const key = `${ends(incoming.get(node.ref), 'from')}\n\n${ends(outgoing.get(node.ref), 'to')}`;
    groups.set(key, [...(groups.get(key) ?? []), node]);
  }
  const standIn = new Map<string, DagNode>();
  for (const members of groups.values()) {
    const [first] = members;
    if (members.length < LEAST_ALIKE || first === undefined) continue;
    const ref = `${members.length}× ${first.ref}… ${tally(members, true)}`;
    const node = { ref, mark: urgent(members) };
    for (const member of members) standIn.set(member.ref, node);
  }
  const nameOf = (ref: string): string => standIn.get(ref)?.ref ?? ref;
  const moved = edges.map((edge) => ({ ...edge, from: nameOf(edge.from), to: nameOf(edge.to) }));
  return { nodes: [...new Set(nodes.map((node) => standIn.get(node.ref) ?? node))], edges: moved };
}
