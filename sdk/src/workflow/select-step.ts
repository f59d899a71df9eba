/** Steps that choose recipients of a pool and hold them for the run. */
import type { StepJson } from './definition-json.js';
import { type Ref, type StepRead, makeReference } from './reference.js';
import type { StepHandle } from './step-options.js';
import { stepText } from './step-text.js';
import { compileTemplate, type Template } from './template.js';

/** The work that is routed; everything may be left out. */
export interface SelectRoutable {
  /** Default: the id of the run and the path of the step. */
  readonly id: string;
  readonly type: string;
  /** What rules and scores of the pool read. */
  readonly attributes: unknown;
  /** Higher is more urgent. */
  readonly priority: number;
  readonly channel: string;
  readonly required_skills: readonly string[];
  readonly expires_at: string;
  readonly received_at: string;
}

/** What is chosen; beside where its step stands. */
export interface SelectOptions {
  /** Name or id of the pool. Default: the tenant's rules say which. */
  readonly pool?: string;
  /** Default: nothing is known of the work. */
  readonly routable?: { readonly [Field in keyof SelectRoutable]?: Template<SelectRoutable[Field]> };
  /** Recipients to choose at most. Default: as many as the pool says. */
  readonly slate?: number;
  /** Fewer than these are none: the step fails. Default 1. */
  readonly atLeast?: number;
}

/** A recipient that was chosen. */
export interface SelectedRecipient {
  readonly id: string;
  readonly name: string;
  readonly external_id: string;
  readonly type: string;
  /** Units that are held of it. */
  readonly units: number;
}

/** What such a step puts out. */
export interface SelectOutput {
  readonly pool_id: string;
  /** In the order in which they were chosen. */
  readonly recipients: readonly SelectedRecipient[];
}

/** A step that selects. */
export interface SelectHandle extends StepHandle<SelectOutput> {
  /** Who was chosen, for `forEach`. */
  readonly recipients: Ref<SelectedRecipient[]>;
}

/** The step of a definition, but for its name and place. */
export function selectJson(
  name: string,
  { pool, routable, slate, atLeast }: SelectOptions,
): { readonly json: Omit<StepJson, 'ref'>; readonly reads: readonly StepRead[] } {
  const work = routable === undefined ? undefined : compileTemplate(routable, `step ${name}: routable`);
  const args = {
    ...(pool !== undefined && { pool }),
    ...(work !== undefined && { routable: work.json }),
    ...(slate !== undefined && { slate }),
    ...(atLeast !== undefined && { at_least: atLeast }),
  };
  return { json: { type: 'STEP_TYPE_SELECT', args }, reads: work?.reads ?? [] };
}

/** The handle of a step that selects. */
export function selectHandle(step: StepHandle<SelectOutput>): SelectHandle {
  const cel = `${stepText(step.ref, 'output')}.recipients`;
  const reads = [{ ref: step.ref, what: 'output' as const }];
  return { ...step, recipients: makeReference({ cel, reads }) as Ref<SelectedRecipient[]> };
}
