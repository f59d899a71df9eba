/** Checks edges: their own fields, then how they lead through the steps. */
import { buildGraph, type Graph } from '../graph.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { didYouMean } from '../suggest.js';
import type { ReadStep } from './check-step.js';
import { checkCompensations, COMPENSATE } from './check-compensations.js';
import { checkSources } from './check-sources.js';
import { sayDeadSteps } from './dead-steps.js';
import { childPath, type ProblemSink } from './problems.js';
import type { ReadEdge } from './read-edge.js';
import { optionalList, optionalText, readObject, refuseUnknown, requireField, requireText } from './shape.js';
import type { ObjectReader } from './shape.js';

const EDGE_FIELDS = ['source_ref', 'target_ref', 'type', 'condition', 'case'];
const EDGE_TYPES = ['EDGE_TYPE_SUCCESS', 'EDGE_TYPE_FAILURE', 'EDGE_TYPE_ALWAYS', 'EDGE_TYPE_TIMEOUT'].concat([
  COMPENSATE,
]);

function readType(reader: ObjectReader): string | undefined {
  const value = requireField(reader, 'type', '"EDGE_TYPE_SUCCESS"');
  if (value === undefined || (typeof value === 'string' && EDGE_TYPES.includes(value))) return value;
  const hint = typeof value === 'string' ? didYouMean(value, EDGE_TYPES) : '';
  const remedy = `Use one of ${EDGE_TYPES.join(', ')}.${hint}`;
  reader.problems.add(childPath(reader.path, 'type'), value, 'is no type of edge', remedy);
  return undefined;
}

function readEnd(reader: ObjectReader, key: string, refs: ReadonlySet<string>): string | undefined {
  const ref = requireText(reader, key, {
    example: '"score"',
    isFine: (text) => text !== '',
    wanted: 'the ref of a step',
  });
  if (ref === undefined || refs.has(ref)) return ref;
  const remedy = `Name a step of this definition.${didYouMean(ref, refs)}`;
  reader.problems.add(childPath(reader.path, key), ref, 'is no step of this definition', remedy);
  return undefined;
}

function readEdge(reader: ObjectReader, refs: ReadonlySet<string>, isInBody: boolean): ReadEdge | undefined {
  refuseUnknown(reader, EDGE_FIELDS, 'an edge');
  const source = readEnd(reader, 'source_ref', refs);
  const target = readEnd(reader, 'target_ref', refs);
  const type = readType(reader);
  if (isInBody && type === COMPENSATE) {
    const remedy = 'Compensate the step that runs the body.';
    reader.problems.add(childPath(reader.path, 'type'), type, 'is not supported within a body by this version', remedy);
  }
  const condition = optionalText(reader, 'condition');
  const chosen = optionalText(reader, 'case');
  if (source === undefined || target === undefined) return undefined;
  if (source !== target) return { reader, source, target, type, condition, case: chosen };
  const remedy = 'Lead it to another step; to try a step again, use its retry.';
  reader.problems.add(reader.path, source, 'leads from a step to itself', remedy);
  return undefined;
}

/** Reads all edges of a definition or body; those that could not be read in full are left out. */
export function readEdges(root: ObjectReader, refs: ReadonlySet<string>, isInBody: boolean): readonly ReadEdge[] {
  const list = optionalList(root, 'edges') ?? [];
  const path = childPath(root.path, 'edges');
  if (list.length > DEFINITION_LIMITS.edges) {
    const problem = `has ${list.length} edges, more than ${DEFINITION_LIMITS.edges}`;
    root.problems.add(path, undefined, problem, 'Split the workflow.');
    return [];
  }
  const seen = new Map<string, string>();
  const edges: ReadEdge[] = [];
  for (const [index, value] of list.entries()) {
    const reader = readObject(root.problems, childPath(path, index), value);
    const edge = reader === undefined ? undefined : readEdge(reader, refs, isInBody);
    if (edge === undefined) continue;
    const key = `${edge.source} ${edge.target} ${edge.type ?? ''} ${edge.case ?? ''}`;
    const first = seen.get(key);
    if (first === undefined || edge.type === undefined) edges.push(edge);
    else {
      const remedy = 'Remove one of them; join conditions with ||.';
      edge.reader.problems.add(edge.reader.path, `${edge.source} -> ${edge.target}`, `repeats ${first}`, remedy);
    }
    seen.set(key, first ?? edge.reader.path);
  }
  return edges;
}

function sayCycles(problems: ProblemSink, graph: Graph, pathOf: (ref: string) => string): void {
  for (const cycle of graph.cycles) {
    const [first = ''] = cycle;
    const way = [...cycle, first].join(' -> ');
    problems.add(pathOf(first), way, 'is on a cycle of edges', 'Remove an edge of the cycle; to try again, use retry.');
  }
  for (const ref of graph.behindCycles) {
    problems.add(pathOf(ref), ref, 'cannot be reached: it waits for a step on a cycle', 'Break the cycle first.');
  }
}

/** Orders the steps; says cycles and steps that cannot be reached. */
export function checkGraph(steps: readonly ReadStep[], edges: readonly ReadEdge[], problems: ProblemSink): Graph {
  const refs = steps.flatMap(({ ref }) => ref ?? []);
  const graph = buildGraph(refs, edges);
  const paths = new Map(steps.map(({ ref, reader }) => [ref, reader.path]));
  sayCycles(problems, graph, (ref) => paths.get(ref) ?? 'steps');
  const named = new Map(steps.flatMap((step) => (step.ref === undefined ? [] : [[step.ref, step] as const])));
  checkSources(named, edges);
  checkCompensations(named, edges);
  sayDeadSteps(named, edges, graph, problems);
  return graph;
}
