/** Steps that choose recipients of a pool and hold them for the run. */
import type { ItemCounts, ItemRef } from './bodies.js';
import type { BodyJson, StepJson } from './definition-json.js';
import { type Ref, type StepRead, makeReference } from './reference.js';
import type { Placement, StepHandle } from './step-options.js';
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

/** A body that runs for each of those who were chosen. */
export interface SelectEachOptions extends SelectOptions {
  readonly mode?: 'each';
  /** Recipients under way at a time, 1 to 1000. Default 100. */
  readonly maxParallel?: number;
  /** For how many it may fail: a number, or a share such as "50%". Default 0. */
  readonly tolerate?: number | `${number}%`;
}

/** A body that runs for one after the other, in the order in which they were chosen, until it completes for one. */
export interface SelectRankedOptions extends SelectOptions {
  readonly mode: 'ranked';
}

/** A body that runs once, for all of those who were chosen. */
export interface SelectSlateOptions extends SelectOptions {
  readonly mode: 'slate';
}

/** Whatever such a step is given. */
export type AnySelectOptions = (SelectEachOptions | SelectRankedOptions | SelectSlateOptions) & Placement;

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

/** What it puts out whose body ran for each. */
export interface SelectEachOutput<T> extends SelectOutput, ItemCounts {
  /** In the order of the recipients; null where the body failed. */
  readonly outputs: readonly (T | null)[];
}

/** What it puts out whose body ran until it completed for one. */
export interface SelectRankedOutput<T> extends SelectOutput {
  /** Whom it completed for, and their place. */
  readonly recipient: SelectedRecipient;
  readonly index: number;
  readonly output: T;
  /** How it failed for those before. */
  readonly failures: ItemCounts['failures'];
}

/** What it puts out whose body ran once. */
export interface SelectSlateOutput<T> extends SelectOutput {
  readonly output: T;
}

/** Declares the steps of a body. */
export type AnySelectBody = (item: ItemRef<never>, index: Ref<number>) => unknown;

/** A step that selects. */
export interface SelectHandle<Out extends SelectOutput = SelectOutput> extends StepHandle<Out> {
  /** Who was chosen, for `forEach`. */
  readonly recipients: Ref<SelectedRecipient[]>;
}

/** The step of a definition, but for its name and place. */
export function selectJson(
  name: string,
  options: AnySelectOptions,
  body?: { readonly json: BodyJson; readonly outer: readonly StepRead[] },
): { readonly json: Omit<StepJson, 'ref'>; readonly reads: readonly StepRead[] } {
  const { pool, routable, slate, atLeast, mode } = options;
  const { maxParallel, tolerate }: SelectEachOptions = mode === 'ranked' || mode === 'slate' ? {} : options;
  const work = routable === undefined ? undefined : compileTemplate(routable, `step ${name}: routable`);
  const args = {
    ...(pool !== undefined && { pool }),
    ...(work !== undefined && { routable: work.json }),
    ...(slate !== undefined && { slate }),
    ...(atLeast !== undefined && { at_least: atLeast }),
    ...(mode !== undefined && { mode }),
    ...(maxParallel !== undefined && { max_parallel: maxParallel }),
    ...(tolerate !== undefined && { tolerate }),
  };
  const json = { type: 'STEP_TYPE_SELECT' as const, args, ...(body !== undefined && { body: body.json }) };
  return { json, reads: [...(work?.reads ?? []), ...(body?.outer ?? [])] };
}

/** The handle of a step that selects. */
export function selectHandle(step: StepHandle<SelectOutput>): SelectHandle {
  const cel = `${stepText(step.ref, 'output')}.recipients`;
  const reads = [{ ref: step.ref, what: 'output' as const }];
  return { ...step, recipients: makeReference({ cel, reads }) as Ref<SelectedRecipient[]> };
}
