/**
 * Edges. An edge resolves once its source has ended, and for ever:
 *   FIRED    the outcome it is for came about, its case was chosen, and its condition holds
 *   NEUTRAL  source skipped or cancelled, condition false, another case, or the other outcome
 *   BLOCKED  SUCCESS edge of a failed source
 * A step fails by a timeout when its last attempt did: then its TIMEOUT edges fire, and its FAILURE edges only when it
 * has no TIMEOUT edge at all. Conditions read what had ended before (the definition's validation sees to it), so that
 * asking again gives the same.
 */
import { DuctorError } from '../../kernel/index.js';
import type { Join, PlanEdge, Template } from './plan.js';
import type { StepState, StepStatus } from './state.js';
import { pathIn } from './path.js';
import type { EdgeResolution, Place, Tick } from './tick.js';

/** Codes of failures that are timeouts. A step body that fails with one of them says the same of itself. */
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'heartbeat_timeout',
  'run_timeout',
  'schedule_to_start_timeout',
  'timeout',
  'total_timeout',
]);

/** Whether a step has ended, one way or another. */
export function isEnded(status: StepStatus | undefined): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'SKIPPED' || status === 'CANCELLED';
}

/** The case a completed SWITCH chose; undefined: none. */
function chosenCase({ expressions }: Place, ref: string): unknown {
  const output = expressions.stepOutput(ref);
  return typeof output === 'object' && output !== null && 'case' in output ? output.case : undefined;
}

function byFailure(tick: Tick, edge: PlanEdge, source: StepState): EdgeResolution {
  const isTimeout = source.error !== null && TIMEOUT_CODES.has(source.error.code);
  switch (edge.type) {
    case 'SUCCESS':
      return 'BLOCKED';
    case 'ALWAYS':
      return 'FIRED';
    case 'TIMEOUT':
      return isTimeout ? 'FIRED' : 'NEUTRAL';
    case 'FAILURE': {
      if (!isTimeout) return 'FIRED';
      const edges = tick.plan.stepByRef.get(edge.sourceRef)?.outgoing ?? [];
      return edges.some(({ type }) => type === 'TIMEOUT') ? 'NEUTRAL' : 'FIRED';
    }
  }
}

/** How the outcome of its source alone decides an edge: FIRED means unless its condition is false. */
function byOutcome(tick: Tick, place: Place, edge: PlanEdge): EdgeResolution {
  const source = tick.draft.steps.get(pathIn(place.scope, edge.sourceRef));
  if (source?.status === 'FAILED') return byFailure(tick, edge, source);
  if (source?.status !== 'COMPLETED' || edge.type === 'FAILURE' || edge.type === 'TIMEOUT') return 'NEUTRAL';
  return edge.case === null || edge.case === chosenCase(place, edge.sourceRef) ? 'FIRED' : 'NEUTRAL';
}

/** Whether a condition holds; null does. Throws what it throws, and expression_failed when it is no bool. */
export function holdsFor({ expressions }: Place, condition: Template | null): boolean {
  if (condition === null) return true;
  const result = condition.evaluate(expressions);
  if (typeof result === 'boolean') return result;
  throw new DuctorError('expression_failed', `the condition gives ${typeof result}, not a bool`);
}

/** Resolves an edge whose source has ended. Throws what its condition throws. */
export function resolveEdge(tick: Tick, place: Place, edge: PlanEdge): EdgeResolution {
  const known = place.resolved.get(edge);
  if (known !== undefined) return known;
  const outcome = byOutcome(tick, place, edge);
  const resolution = outcome === 'FIRED' && !holdsFor(place, edge.condition) ? 'NEUTRAL' : outcome;
  place.resolved.set(edge, resolution);
  return resolution;
}

/**
 * What a join makes of its edges.
 *
 * @param resolutions of the edges that are resolved
 * @param open edges that are not
 * @returns undefined while it is not decided
 */
export function decide(join: Join, resolutions: readonly EdgeResolution[], open: number): 'start' | 'skip' | undefined {
  if (join.mode === 'all') {
    if (open > 0) return undefined;
    return resolutions.includes('FIRED') && !resolutions.includes('BLOCKED') ? 'start' : 'skip';
  }
  const fired = resolutions.filter((resolution) => resolution === 'FIRED').length;
  if (fired >= join.count) return 'start';
  return fired + open < join.count ? 'skip' : undefined;
}
