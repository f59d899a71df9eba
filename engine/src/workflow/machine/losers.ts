/**
 * The losers of a join that began before all its edges were resolved: steps that have not ended and lead to nothing but
 * this join, directly or through other losers. They are stopped, or skipped when they had not begun, so that none of
 * them begins later.
 */
import { pathIn } from './path.js';
import type { PlanStep } from './plan.js';
import { isEnded } from './resolve-edges.js';
import { stopStep } from './tell-to-stop.js';
import { emit, type Place, type Tick } from './tick.js';

/** Refs of the losers, in the order of the plan. */
function losersOf(tick: Tick, { body: { steps }, scope }: Place, join: PlanStep): readonly string[] {
  const place = steps.findIndex(({ ref }) => ref === join.ref);
  const useless = new Set<string>([join.ref]);
  const losers: string[] = [];
  // Edges lead forwards in the plan's order: backwards through it every step comes after all it leads to.
  for (let at = place - 1; at >= 0; at -= 1) {
    const step = steps[at];
    if (step === undefined || step.outgoing.length === 0) continue;
    if (isEnded(tick.draft.steps.get(pathIn(scope, step.ref))?.status)) continue;
    if (!step.outgoing.every(({ targetRef }) => useless.has(targetRef))) continue;
    useless.add(step.ref);
    losers.push(step.ref);
  }
  return losers.reverse();
}

/** Stops the losers of a join that has just begun. */
export function stopLosers(tick: Tick, place: Place, join: PlanStep): void {
  for (const ref of losersOf(tick, place, join)) {
    const path = pathIn(place.scope, ref);
    const state = tick.draft.steps.get(path);
    if (state !== undefined) stopStep(tick, state);
    else emit(tick, { kind: 'step_skipped', path });
  }
}
