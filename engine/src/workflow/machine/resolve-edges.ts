/**
 * Edges. An edge resolves once its source has ended, and for ever:
 *   FIRED    the outcome it is for came about, and its condition holds
 *   NEUTRAL  source skipped, condition false, or the other outcome
 *   BLOCKED  SUCCESS edge of a failed source
 * Conditions read what had ended before (the definition's validation sees to it), so that asking again gives the same.
 */
import { DuctorError } from '../../kernel/index.js';
import type { PlanEdge } from './plan.js';
import type { StepStatus } from './state.js';
import type { EdgeResolution, Tick } from './tick.js';

/** Whether a step has ended, one way or another. */
export function isEnded(status: StepStatus | undefined): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'SKIPPED' || status === 'CANCELLED';
}

/** How the outcome of its source alone decides an edge: FIRED means unless its condition is false. */
function byOutcome(edge: PlanEdge, source: StepStatus | undefined): EdgeResolution {
  if (source === 'COMPLETED') return edge.type === 'FAILURE' ? 'NEUTRAL' : 'FIRED';
  if (source === 'FAILED') return edge.type === 'SUCCESS' ? 'BLOCKED' : 'FIRED';
  return 'NEUTRAL';
}

function holds(tick: Tick, edge: PlanEdge): boolean {
  if (edge.condition === null) return true;
  const result = edge.condition.evaluate(tick.scope);
  if (typeof result === 'boolean') return result;
  throw new DuctorError('expression_failed', `the condition gives ${typeof result}, not a bool`);
}

/** Resolves an edge whose source has ended. Throws what its condition throws. */
export function resolveEdge(tick: Tick, edge: PlanEdge): EdgeResolution {
  const known = tick.resolved.get(edge);
  if (known !== undefined) return known;
  const outcome = byOutcome(edge, tick.draft.steps.get(edge.sourceRef)?.status);
  const resolution = outcome === 'FIRED' && !holds(tick, edge) ? 'NEUTRAL' : outcome;
  tick.resolved.set(edge, resolution);
  return resolution;
}

/** What a join makes of its resolved edges: start when one FIRED and none is BLOCKED. */
export function joinStarts(resolutions: readonly EdgeResolution[]): boolean {
  return resolutions.includes('FIRED') && !resolutions.includes('BLOCKED');
}
