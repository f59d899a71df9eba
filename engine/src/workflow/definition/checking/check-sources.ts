/** Checks edges against the type of the step they come from. */
import { didYouMean } from '../suggest.js';
import type { ReadEdge } from './read-edge.js';
import type { ReadStep } from './check-step.js';
import { canTimeOut } from './dead-steps.js';
import { childPath } from './problems.js';

function checkCase(edge: ReadEdge, { type, args }: ReadStep): void {
  const { problems, path } = edge.reader;
  if (edge.case === undefined || type === undefined) return;
  const at = childPath(path, 'case');
  if (type.casesOf === undefined) {
    problems.add(
      at,
      edge.case,
      `has no effect: ${edge.source} is no STEP_TYPE_SWITCH`,
      'Remove it, or use a condition.',
    );
    return;
  }
  if (edge.type !== undefined && edge.type !== 'EDGE_TYPE_SUCCESS') {
    problems.add(at, edge.case, `has no effect on ${edge.type}`, 'Make it an EDGE_TYPE_SUCCESS, or remove the case.');
  }
  const cases = type.casesOf(args);
  if (cases.includes(edge.case)) return;
  const remedy = `Name one of its cases: ${cases.join(', ')}.${didYouMean(edge.case, cases)}`;
  problems.add(at, edge.case, `is no case of ${edge.source}`, remedy);
}

/** A SELECT that runs no body ends in the moment in which it begins. */
function checkTimeout(edge: ReadEdge, source: ReadStep): void {
  if (edge.type !== 'EDGE_TYPE_TIMEOUT' || source.type?.name !== 'STEP_TYPE_SELECT' || canTimeOut(source)) return;
  const { problems, path } = edge.reader;
  const problem = `can never fire: ${edge.source} is a STEP_TYPE_SELECT without a body, which has no time to run out`;
  problems.add(childPath(path, 'type'), edge.type, problem, 'Make it an EDGE_TYPE_FAILURE, or give the step a body.');
}

function checkEdge(edge: ReadEdge, source: ReadStep): void {
  const { problems, path } = edge.reader;
  checkCase(edge, source);
  checkTimeout(edge, source);
  if (source.type?.endsRun === true) {
    const remedy = 'Remove the edge: the run is over with that step.';
    problems.add(path, edge.source, `leads on from a ${source.type.name}, which ends the run`, remedy);
  }
}

/** Says edges that cannot come from where they come from. */
export function checkSources(steps: ReadonlyMap<string, ReadStep>, edges: readonly ReadEdge[]): void {
  for (const edge of edges) {
    const source = steps.get(edge.source);
    if (source !== undefined) checkEdge(edge, source);
  }
}
