/** Steps that route a unit of work and assign it. */
import type { StepJson } from './definition-json.js';
import type { Ref, StepRead } from './reference.js';
import { referenceCore } from './reference.js';
import type { SelectedRecipient, SelectOptions } from './select-step.js';
import { compileTemplate, type Template } from './template.js';
import { DefinitionError } from './definition-error.js';

/** What is routed; beside where its step stands. */
export interface RouteStepOptions extends Pick<SelectOptions, 'pool' | 'routable'> {
  /** Ids of recipients that must not get it: references, or a reference to a list. Default: none. */
  readonly exclude?: Ref<readonly string[]> | readonly Template<string>[];
  /**
   * Whether what is still offered or assigned by then is released when the run has ended, and its continuations with
   * it, however they end. Default: false, it stays with its recipients.
   */
  readonly endsWithRun?: boolean;
  /**
   * `family`: where the pool gives seats or tiers, they are those of the run's family, as of a `select`, and end with
   * it; without effect where it gives none. Default: they are the work's own, by its id.
   */
  readonly seatFor?: 'family';
  /**
   * How long the step waits where its pool queues the work; then that is taken out of the queue. Default: as long as
   * the queue lets it.
   */
  readonly timeout?: string;
}

/** Codes of the error of such a step: outcomes of the decision in which nobody was assigned, and ends of waiting. */
export type RouteErrorCode =
  | 'no_eligible_recipient'
  | 'recipient_capacity_exhausted'
  | 'capacity_authority_unavailable'
  | 'all_cooling_down'
  | 'pool_disabled'
  | 'pool_closed'
  | 'no_matching_rule'
  | 'dropped'
  | 'deferred'
  | 'dead_lettered'
  | 'max_depth_exceeded'
  | 'rejected'
  | 'deadline_exceeded'
  | 'timeout'
  | 'work_removed'
  | 'error'
  | 'not_found'
  | 'invalid_argument'
  | 'unimplemented';

/** A recipient that got the work. */
export interface RoutedRecipient extends SelectedRecipient {
  readonly assignment_id: string;
}

/** What such a step puts out: the decision, with those who got the work. */
export interface RouteOutput {
  readonly id: string;
  /**
   * `offered` where the pool asks for acceptance, `duplicate` where its window knows the work, `queued_for_claim` where
   * recipients take it by themselves.
   */
  readonly outcome: 'assigned' | 'offered' | 'duplicate' | 'queued_for_claim';
  /** `waiting` for work that waits to be claimed. */
  readonly outcome_class: 'success' | 'waiting';
  readonly slate: readonly { readonly recipient_id: string; readonly units: number }[];
  readonly assignment_ids: readonly string[];
  readonly pool_id: string;
  readonly rule_id: string;
  readonly routable_id: string;
  /** The first decision about the same work; empty: this is the first. */
  readonly duplicate_of: string;
  /** The item that waits to be claimed; empty: none does. */
  readonly claim_item_id: string;
  readonly decided_at: string;
  readonly recipients: readonly RoutedRecipient[];
}

function excluded(name: string, exclude: NonNullable<RouteStepOptions['exclude']>): { cel: string; reads: StepRead[] } {
  const list = referenceCore(exclude);
  if (list !== undefined) return { cel: list.cel, reads: [...list.reads] };
  if (!Array.isArray(exclude)) throw new DefinitionError(`step ${name} excludes no list`, 'name ids of recipients');
  const parts = exclude.map((id: unknown) => compileTemplate(id, `step ${name}: exclude`));
  return {
    cel: `[${parts.map(({ json }) => (typeof json === 'string' ? json : 'null')).join(', ')}]`,
    reads: parts.flatMap(({ reads }) => [...reads]),
  };
}

/** The step of a definition, but for its name and place. */
export function routeJson(
  name: string,
  { pool, routable, exclude, endsWithRun, seatFor, timeout }: RouteStepOptions,
): { readonly json: Omit<StepJson, 'ref'>; readonly reads: readonly StepRead[] } {
  const work = routable === undefined ? undefined : compileTemplate(routable, `step ${name}: routable`);
  const without = exclude === undefined ? undefined : excluded(name, exclude);
  const args = {
    ...(pool !== undefined && { pool }),
    ...(work !== undefined && { routable: work.json }),
    ...(without !== undefined && { exclude: without.cel }),
    ...(endsWithRun !== undefined && { ends_with_run: endsWithRun }),
    ...(seatFor !== undefined && { seat_for: seatFor }),
    ...(timeout !== undefined && { timeout }),
  };
  return { json: { type: 'STEP_TYPE_ROUTE', args }, reads: [...(work?.reads ?? []), ...(without?.reads ?? [])] };
}
