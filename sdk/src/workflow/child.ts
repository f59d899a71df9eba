/** Steps that start a run of another workflow. */
import type { StepJson } from './definition-json.js';
import { type CompiledTemplate, type Template, compileTemplate } from './template.js';

/** What of a workflow a parent needs to know: its name, and the types of its input and output. */
export interface ChildWorkflow<In, Out> {
  readonly slug: string;
  parseInput(input: In): unknown;
  readonly output?: Out;
}

/** How a child is started; beside where its step stands. */
export interface ChildOptions<In> {
  /** What the child receives. Default: the input of this run. */
  readonly input?: Template<In>;
  /** Version of the child's workflow. Default: the current one when the child begins. */
  readonly version?: number;
  /** Does not wait: the step is done once the child is on its way, and puts out its `run_id`. */
  readonly detach?: boolean;
  /**
   * What becomes of the child when this run comes to its end first: "cancel" (default) asks it to end, "terminate" ends
   * it at once, "abandon" (default with detach) lets it go on.
   */
  readonly parentClosePolicy?: 'cancel' | 'terminate' | 'abandon';
}

/** The step of a definition, but for its name and place. */
export function childJson<In>(
  name: string,
  slug: string,
  { input, version, detach, parentClosePolicy }: ChildOptions<In>,
): { readonly json: Omit<StepJson, 'ref'>; readonly reads: CompiledTemplate['reads'] } {
  const compiled = input === undefined ? undefined : compileTemplate(input, `step ${name}: input`);
  const args = {
    workflow: slug,
    ...(version !== undefined && { version }),
    ...(detach !== undefined && { detach }),
    ...(parentClosePolicy !== undefined && { parent_close_policy: parentClosePolicy }),
  };
  const json = { type: 'STEP_TYPE_SUB_WORKFLOW' as const, ...(compiled && { input: compiled.json }), args };
  return { json, reads: compiled?.reads ?? [] };
}
