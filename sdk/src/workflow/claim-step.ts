/** Steps whose work waits in a claim queue until a recipient takes it. */
import type { StepJson } from './definition-json.js';
import type { StepRead } from './reference.js';
import { routeJson, type RouteErrorCode, type RouteStepOptions } from './route-step.js';
import type { SelectedRecipient } from './select-step.js';

/** What waits to be claimed, and for what the step waits; beside where it stands. */
export interface ClaimStepOptions extends RouteStepOptions {
  /** `claimed`: until somebody has it; `completed`: until it is done. Default: `claimed`. */
  readonly until?: 'claimed' | 'completed';
  /** How long the step waits; then the work is taken out of the queue. Default: until the item expires. */
  readonly timeout?: string;
}

/** Codes of the error of such a step. */
export type ClaimErrorCode =
  Exclude<RouteErrorCode, 'work_removed'> | 'claim_expired' | 'claim_withdrawn' | 'not_queued';

/** What such a step puts out. */
export interface ClaimOutput {
  readonly item_id: string;
  readonly decision_id: string;
  /** Who claimed it. */
  readonly recipient: SelectedRecipient;
  readonly assignment_id: string;
}

/** The step of a definition, but for its name and place. */
export function claimJson(
  name: string,
  { until, timeout, ...work }: ClaimStepOptions,
): { readonly json: Omit<StepJson, 'ref'>; readonly reads: readonly StepRead[] } {
  const { json, reads } = routeJson(name, work);
  const more = {
    ...(until !== undefined && { until }),
    ...(timeout !== undefined && { timeout }),
  };
  return { json: { type: 'STEP_TYPE_CLAIM', args: { ...json.args, ...more } }, reads };
}
