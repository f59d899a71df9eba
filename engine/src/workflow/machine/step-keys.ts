/** Keys that expressions give the attempts of a step. */
import type { PlanStep, Template } from './plan.js';
import type { StepKeys } from './state.js';
import type { Place, Tick } from './tick.js';

/** Keys of the attempts of a step; null: there is nothing that says any. Throws DuctorError expression_failed. */
export function keysOf({ plan }: Tick, step: PlanStep & { readonly type: 'CALLBACK' }, place: Place): StepKeys | null {
  const fairnessKey = step.fairnessKey ?? plan.fairnessKey;
  const { idempotencyKey } = step;
  if (fairnessKey === null && idempotencyKey === null) return null;
  const text = (key: Template | null): string => (key === null ? '' : String(key.evaluate(place.expressions)));
  return { fairness: text(fairnessKey), idempotency: text(idempotencyKey) };
}
