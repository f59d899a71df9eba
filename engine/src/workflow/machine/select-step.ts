/** SELECT steps: what they ask for is decided under locks, in the commit of the tick that asks (selecting.ts). */
import { checkSize } from './failure.js';
import type { PlanStep } from './plan.js';
import { holdingFamily, refusalOf, type Selected } from './selecting.js';
import { emit, type Place, type Tick } from './tick.js';
import { jsonValue } from './value.js';

type Granted = Selected & { readonly kind: 'granted' };

/** Shows what was granted: from here on it is held. */
function show(tick: Tick, path: string, { poolId, digest, isReused, recipients }: Granted): void {
  emit(tick, { kind: 'slate_reserved', path, poolId, digest, isReused, recipients: jsonValue(recipients) });
  emit(tick, { kind: 'step_completed', path, attempt: 0, output: jsonValue({ pool_id: poolId, recipients }) });
  tick.ended.push(path);
}

/**
 * Begins a SELECT step. Throws what its routable throws, and the refusal: then nothing is held and nothing is shown.
 * Without an answer the step waits: the tick is computed anew under the locks that it asked for.
 */
export function startSelect(
  tick: Tick,
  step: PlanStep & { readonly type: 'SELECT' },
  place: Place,
  path: string,
): void {
  const routable = step.routable.evaluate(place.expressions);
  const shown = checkSize(jsonValue(routable), `the routable of step ${path}`);
  emit(tick, { kind: 'step_selecting', path, pool: step.pool, routable: shown });
  const { pool, slateSize, atLeast } = step;
  const { pinned } = tick.plan;
  const family = holdingFamily(tick.draft);
  const answer = tick.gate.select({ path, family, pool, routable, slateSize, atLeast, pinned });
  if (answer === null) return;
  if (answer.kind === 'refused') throw refusalOf(answer);
  show(tick, path, answer);
}
