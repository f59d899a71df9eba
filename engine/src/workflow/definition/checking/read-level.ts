/** Reads the steps and edges of a definition and of the bodies in it. */
import { DEFINITION_LIMITS } from '../limits.js';
import { readEdges } from './check-edges.js';
import { readStep, type ReadStep } from './check-step.js';
import { childPath } from './problems.js';
import type { ReadEdge } from './read-edge.js';
import { field, optionalList, readObject, refuseUnknown, requireField, type ObjectReader } from './shape.js';

/** Steps that run together, as far as they could be read. */
export interface ReadLevel {
  /** The definition, or a body. */
  readonly reader: ObjectReader;
  readonly steps: readonly ReadStep[];
  readonly edges: readonly ReadEdge[];
  /** Bodies by the steps that run them. */
  readonly bodies: ReadonlyMap<ReadStep, ReadLevel>;
}

/** What all levels of a definition share. */
interface Shared {
  /** Refs that are in use. */
  readonly taken: Set<string>;
  steps: number;
  edges: number;
}

const BODY_FIELDS = ['steps', 'edges', 'output'];
const STEP_EXAMPLE = '[{"ref": "pause", "type": "STEP_TYPE_WAIT", "args": {"duration": "2s"}}]';

function refuseInBody({ reader: { problems, path }, type }: ReadStep): void {
  if (type?.topLevelOnly === undefined) return;
  const remedy = 'Move it out of the body, behind the step that runs it.';
  problems.add(childPath(path, 'type'), type.name, `cannot stand in a body: ${type.topLevelOnly}`, remedy);
}

function readSteps(root: ObjectReader, shared: Shared, depth: number): readonly ReadStep[] {
  const path = childPath(root.path, 'steps');
  if (requireField(root, 'steps', STEP_EXAMPLE) === undefined) return [];
  const list = optionalList(root, 'steps');
  if (list === undefined) return [];
  if (list.length === 0) root.problems.add(path, undefined, 'is empty', `Add a step, such as ${STEP_EXAMPLE}.`);
  shared.steps += list.length;
  if (shared.steps > DEFINITION_LIMITS.steps) {
    const whose = shared.steps === list.length ? '' : 'with those of other bodies ';
    const problem = `has ${whose}${shared.steps} steps, more than ${DEFINITION_LIMITS.steps}`;
    root.problems.add(path, undefined, problem, 'Split the workflow.');
    return [];
  }
  const steps: ReadStep[] = [];
  for (const [index, value] of list.entries()) {
    const reader = readObject(root.problems, childPath(path, index), value);
    if (reader === undefined) continue;
    const step = readStep(reader, (ref) => shared.taken.has(ref));
    if (depth > 0) refuseInBody(step);
    if (step.ref !== undefined) shared.taken.add(step.ref);
    steps.push(step);
  }
  return steps;
}

/** The body of a step; undefined when it has none, or none that can be read. */
function readBody(step: ReadStep, shared: Shared, depth: number): ReadLevel | undefined {
  const { reader, type } = step;
  const path = childPath(reader.path, 'body');
  if (type?.body === undefined) {
    const body = field(reader.object, 'body');
    if (body === undefined || type === undefined) return undefined;
    reader.problems.add(
      path,
      body,
      `has no effect on ${type.name}`,
      'Remove it: only SCATTER, LOOP and SELECT run a body.',
    );
    return undefined;
  }
  const isAbsent = type.body.isOptional === true && field(reader.object, 'body') === undefined;
  const body = isAbsent ? undefined : requireField(reader, 'body', `{"steps": ${STEP_EXAMPLE}}`);
  const inner = body === undefined ? undefined : readObject(reader.problems, path, body);
  if (inner === undefined) return undefined;
  if (depth > DEFINITION_LIMITS.bodyDepth) {
    const problem = `is nested deeper than ${DEFINITION_LIMITS.bodyDepth} bodies`;
    reader.problems.add(path, undefined, problem, 'Start a workflow of its own for the inner ones.');
    return undefined;
  }
  refuseUnknown(inner, BODY_FIELDS, 'a body');
  return readLevel(inner, shared, depth);
}

function readLevel(reader: ObjectReader, shared: Shared, depth: number): ReadLevel {
  const steps = readSteps(reader, shared, depth);
  const edges = readEdges(reader, new Set(steps.flatMap(({ ref }) => ref ?? [])), depth > 0);
  shared.edges += edges.length;
  if (shared.edges > DEFINITION_LIMITS.edges) {
    const problem = `has with those of other bodies more than ${DEFINITION_LIMITS.edges} edges`;
    reader.problems.add(childPath(reader.path, 'edges'), undefined, problem, 'Split the workflow.');
  }
  const bodies = new Map<ReadStep, ReadLevel>();
  for (const step of steps) {
    const body = readBody(step, shared, depth + 1);
    if (body !== undefined) bodies.set(step, body);
  }
  return { reader, steps, edges, bodies };
}

/** Reads a whole definition. */
export function readLevels(root: ObjectReader): ReadLevel {
  return readLevel(root, { taken: new Set(), steps: 0, edges: 0 }, 0);
}
