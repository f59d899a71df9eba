/** Finds steps that no outcome of the steps before them can start. */
import type { Graph } from '../graph.js';
import type { ReadEdge } from './read-edge.js';
import type { ReadStep } from './check-step.js';
import { childPath, type ProblemSink } from './problems.js';

/** Whether it can fail by a timeout. */
export function canTimeOut({ type, args, reader }: ReadStep): boolean {
  return type?.canTimeOut?.(args, Object.hasOwn(reader.object, 'body')) === true;
}

/** Ways a step can end, each with the edges that may then fire. */
function outcomesOf(edges: readonly ReadEdge[], step: ReadStep | undefined): readonly (readonly ReadEdge[])[] {
  const type = step?.type;
  const canFail = type === undefined || step === undefined || type.canFail(step.args);
  const ofType = (...names: readonly string[]): readonly ReadEdge[] =>
    edges.filter((edge) => edge.type === undefined || names.includes(edge.type));
  const completed = ofType('EDGE_TYPE_SUCCESS', 'EDGE_TYPE_ALWAYS', 'EDGE_TYPE_COMPENSATE');
  const cases = new Set(completed.map((edge) => edge.case));
  const chosen = [...cases].map((one) => completed.filter((edge) => edge.case === undefined || edge.case === one));
  if (!canFail) return [completed, ...chosen];
  const timesOut = type === undefined || step === undefined || canTimeOut(step);
  const timeOut = timesOut ? ofType('EDGE_TYPE_TIMEOUT', 'EDGE_TYPE_ALWAYS') : [];
  const isSwitch = cases.size > 1 || (cases.size === 1 && !cases.has(undefined));
  return [...(isSwitch ? chosen : [completed]), ofType('EDGE_TYPE_FAILURE', 'EDGE_TYPE_ALWAYS'), timeOut];
}

/** The most edges to a step that can fire together. */
function mostFired(
  incoming: readonly ReadEdge[],
  steps: ReadonlyMap<string, ReadStep>,
  dead: ReadonlySet<string>,
): number {
  let most = 0;
  for (const source of new Set(incoming.map((edge) => edge.source))) {
    if (dead.has(source)) continue;
    const edges = incoming.filter((edge) => edge.source === source);
    most += Math.max(...outcomesOf(edges, steps.get(source)).map((fired) => fired.length));
  }
  return most;
}

/** Says steps whose edges can never fire, or never so many of them as their join asks for. */
export function sayDeadSteps(
  steps: ReadonlyMap<string, ReadStep>,
  edges: readonly ReadEdge[],
  graph: Graph,
  problems: ProblemSink,
): void {
  const incoming = new Map<string, ReadEdge[]>();
  for (const edge of edges) {
    const list = incoming.get(edge.target);
    if (list === undefined) incoming.set(edge.target, [edge]);
    else list.push(edge);
  }
  const dead = new Set<string>();
  for (const ref of graph.order) {
    const step = steps.get(ref);
    const own = incoming.get(ref) ?? [];
    const path = step?.reader.path ?? ref;
    const wanted = step?.join.mode === 'n_of' ? step.join.count : 1;
    if (own.length === 0) {
      if (step?.join.mode !== 'n_of') continue;
      problems.add(childPath(path, 'join'), undefined, 'has no effect: no edge leads to the step', 'Remove it.');
      continue;
    }
    const most = mostFired(own, steps, dead);
    if (most >= wanted) continue;
    dead.add(ref);
    if (most === 0) {
      const why = 'a wait of a fixed duration never fails, and a step that never starts fires none.';
      const remedy = `Add an edge that can fire: ${why}`;
      problems.add(path, ref, 'cannot be reached: none of its edges can ever fire', remedy);
    } else {
      const problem = `can never fire: at most ${most} of its edges can fire in one run`;
      problems.add(childPath(childPath(path, 'join'), 'count'), wanted, problem, 'Lower count, or add edges.');
    }
  }
}
