/** Values of templates: by where they stand, or computed. */
import { checkSize } from './failure.js';
import { ownerOfScope, pathIn, scopeOfPath } from './path.js';
import type { Template } from './plan.js';
import type { StepState } from './state.js';
import type { Place, Tick } from './tick.js';
import { jsonValue, NULL_VALUE, type ValueSource } from './value.js';

const NULL: ValueSource = { kind: 'value', value: NULL_VALUE };

/** The step of this name in a scope or the nearest one around it. */
function stepAround(tick: Tick, scope: string, ref: string): StepState | undefined {
  for (let at = scope; at !== ''; at = scopeOfPath(ownerOfScope(at))) {
    const step = tick.draft.steps.get(pathIn(at, ref));
    if (step !== undefined) return step;
  }
  return tick.draft.steps.get(ref);
}

/**
 * Where the value of a template stands, or the value itself.
 *
 * @param what names the value, should it be too large
 * @throws what the template throws, and value_too_large
 */
export function sourceOf(tick: Tick, place: Place, template: Template, what: string): ValueSource {
  const { source } = template;
  if (source === null) {
    return { kind: 'value', value: checkSize(jsonValue(template.evaluate(place.expressions)), what) };
  }
  if (source.kind !== 'stepOutput') return source;
  const step = stepAround(tick, place.scope, source.path);
  return step === undefined || step.output === null ? NULL : { kind: 'stepOutput', path: step.path };
}
