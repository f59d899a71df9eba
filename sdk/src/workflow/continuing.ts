/** Steps that end a run and begin its successor. */
import type { StepJson } from './definition-json.js';
import { type CompiledTemplate, type Template, compileTemplate } from './template.js';

/** With what a run goes on; beside where its step stands. */
export interface ContinueOptions<In> {
  /** The input of the successor. Default: that of this run. */
  readonly input?: Template<In>;
  /** The version the successor executes: "same" (default) as this run, or the one that is "current" then. */
  readonly version?: 'same' | 'current';
}

/** The step of a definition, but for its name and place. */
export function continueJson<In>(
  name: string,
  { input, version }: ContinueOptions<In>,
): { readonly json: Omit<StepJson, 'ref'>; readonly reads: CompiledTemplate['reads'] } {
  const compiled = input === undefined ? undefined : compileTemplate(input, `step ${name}: input`);
  const json = {
    type: 'STEP_TYPE_CONTINUE_AS_NEW' as const,
    ...(compiled && { input: compiled.json }),
    ...(version !== undefined && { args: { version } }),
  };
  return { json, reads: compiled?.reads ?? [] };
}
