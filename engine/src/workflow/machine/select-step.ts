/** SELECT steps: what they ask for is decided under locks, in the commit of the tick that asks (selecting.ts). */
import { checkSize } from './failure.js';
import type { PlanStep } from './plan.js';
import type { Selection } from './selection.js';
import { holdingFamily, refusalOf, type Selected } from './selecting.js';
import type { BodyState } from './state.js';
import { emit, type Place, type Tick } from './tick.js';
import { jsonValue } from './value.js';

type Granted = Selected & { readonly kind: 'granted' };

type Select = PlanStep & { readonly type: 'SELECT' };

/** Shows what was granted: from here on it is held. Then the body runs for it, where there is one. */
function show(tick: Tick, step: Select, path: string, answer: Granted): void {
  const { poolId, digest, isReused, recipients, decisionId } = answer;
  const by = decisionId === undefined ? {} : { decisionId };
  emit(tick, { kind: 'slate_reserved', path, poolId, digest, isReused, recipients: jsonValue(recipients), ...by });
  const decided = decisionId === undefined ? {} : { decision_id: decisionId };
  const chosen: Selection = { pool_id: poolId, ...decided, recipients };
  const value = jsonValue(chosen);
  if (step.body === undefined) {
    emit(tick, { kind: 'step_completed', path, attempt: 0, output: value });
    tick.ended.push(path);
    return;
  }
  const [body, count] = step.mode === 'slate' ? (['slate', 1] as const) : (['select', recipients.length] as const);
  emit(tick, { kind: 'step_opened', path, body, source: { kind: 'value', value }, count, keeps: true });
  tick.owners.add(path);
}

/** Whether the body of the step may fail once more: the next in order is tried, or so many failures do not matter. */
export function mayFailOne({ mode, tolerated }: Select, { begun, count, failed }: BodyState): boolean {
  if (mode === 'slate') return false;
  return mode === 'ranked' ? begun < count : failed < tolerated(count);
}

/**
 * Begins a SELECT step. Throws what its routable throws, and the refusal: then nothing is held and nothing is shown.
 * Without an answer the step waits: the tick is computed anew under the locks that it asked for.
 */
export function startSelect(tick: Tick, step: Select, place: Place, path: string): void {
  const routable = step.routable.evaluate(place.expressions);
  const shown = checkSize(jsonValue(routable), `the routable of step ${path}`);
  emit(tick, { kind: 'step_selecting', path, pool: step.pool, routable: shown });
  const { pool, slateSize, atLeast } = step;
  const { pinned } = tick.plan;
  const family = holdingFamily(tick.draft);
  const answer = tick.gate.select({ path, family, pool, routable, slateSize, atLeast, pinned });
  if (answer === null) return;
  if (answer.kind === 'refused') throw refusalOf(answer);
  show(tick, step, path, answer);
}
