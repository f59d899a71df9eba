/** Checks EDGE_TYPE_COMPENSATE: a step that can undo, standing aside, for a step that has something to undo. */
import type { ReadEdge } from './read-edge.js';
import type { ReadStep } from './check-step.js';
import { childPath } from './problems.js';

/** Type of the edge from a step to the one that undoes it. */
export const COMPENSATE = 'EDGE_TYPE_COMPENSATE';

/** The compensation itself: a step of a fitting type, to which nothing else leads, and which leads nowhere. */
function checkTarget(edge: ReadEdge, step: ReadStep, edges: readonly ReadEdge[]): void {
  const { problems } = step.reader;
  const { path } = edge.reader;
  const { target } = edge;
  if (step.type !== undefined && step.type.canCompensate !== true) {
    const problem = `leads to a ${step.type.name}, which undoes nothing`;
    problems.add(path, target, problem, 'Lead it to a STEP_TYPE_CALLBACK, STEP_TYPE_HTTP or STEP_TYPE_SUB_WORKFLOW.');
  }
  if (step.join.mode !== 'all') {
    problems.add(childPath(step.reader.path, 'join'), undefined, 'has no effect on a compensation', 'Remove it.');
  }
  for (const other of edges) {
    if (other === edge) continue;
    const { path: at } = other.reader;
    if (other.source === target) {
      const remedy = 'Remove the edge; what belongs together goes into one compensation.';
      problems.add(at, target, 'leads on from a compensation', remedy);
    } else if (other.target === target) {
      const remedy = 'Give each compensation its own step, reached by one EDGE_TYPE_COMPENSATE alone.';
      problems.add(at, target, `leads to the compensation of ${edge.source}`, remedy);
    }
  }
}

/** Says compensations that cannot be: of the wrong type, one of several, or in the way of other steps. */
export function checkCompensations(steps: ReadonlyMap<string, ReadStep>, edges: readonly ReadEdge[]): void {
  const bySource = new Map<string, string>();
  const byTarget = new Set<string>();
  for (const edge of edges) {
    if (edge.type !== COMPENSATE) continue;
    const { problems, path } = edge.reader;
    const first = bySource.get(edge.source);
    if (first !== undefined) {
      const remedy = 'Undo all of it in one step.';
      problems.add(path, edge.source, `is a second compensation of ${edge.source}, beside ${first}`, remedy);
    }
    bySource.set(edge.source, first ?? path);
    const target = steps.get(edge.target);
    if (target === undefined || byTarget.has(edge.target)) continue;
    byTarget.add(edge.target);
    checkTarget(edge, target, edges);
  }
}
