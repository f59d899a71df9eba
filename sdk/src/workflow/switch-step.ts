/** Steps that choose one way on. */
import { DefinitionError } from './definition-error.js';
import type { StepJson } from './definition-json.js';
import { referenceCore, type Ref, type StepRead } from './reference.js';
import type { SwitchOptions } from './step-options.js';

/** The step of a definition, but for its name and place. Throws DefinitionError for a case that is no condition. */
export function switchJson(
  name: string,
  options: SwitchOptions<string, string>,
): { readonly json: Omit<StepJson, 'ref'>; readonly reads: readonly StepRead[] } {
  const cases = Object.entries<Ref<boolean>>(options.cases).map(([label, when]) => {
    const core = referenceCore(when);
    if (core !== undefined) return { label, core };
    throw new DefinitionError(`case ${label} of switch ${name} is no condition`, 'compare something: input.a.gt(5)');
  });
  const args = {
    cases: cases.map(({ label, core }) => ({ name: label, when: core.cel })),
    ...(options.default !== undefined && { default: options.default }),
  };
  return { json: { type: 'STEP_TYPE_SWITCH', args }, reads: cases.flatMap(({ core }) => core.reads) };
}
