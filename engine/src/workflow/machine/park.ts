/** Parking holds a run as it is: results of open attempts are recorded, nothing else happens until it is resumed. */
import type { Disposition, RunInput } from './inputs.js';
import { isEnded } from './resolve-edges.js';
import { emit, type Tick } from './tick.js';
import { applyWake } from './wake.js';

/** Holds an open run. */
export function applyPark(tick: Tick, input: RunInput & { readonly kind: 'park' }): Disposition {
  const { draft } = tick;
  if (!draft.started || draft.closed !== null || draft.parked !== null) return 'ignored';
  emit(tick, { kind: 'run_parked', code: input.code, message: input.message });
  return 'applied';
}

/** Orders that may have been lost or held back while the run was parked. */
function repeatOrders(tick: Tick): void {
  for (const { path, attempt, status } of tick.draft.steps.values()) {
    if (status === 'SCHEDULED') tick.commands.push({ kind: 'dispatch', path, attempt });
    if (status === 'CANCELLING') tick.commands.push({ kind: 'abort', path, attempt, reason: 'cancelled' });
  }
}

/** Lets a parked run go on: whatever ended or came due meanwhile takes effect now. */
export function applyResume(tick: Tick): Disposition {
  const { draft } = tick;
  if (draft.parked === null || draft.closed !== null) return 'ignored';
  emit(tick, { kind: 'run_resumed' });
  repeatOrders(tick);
  applyWake(tick);
  // Which steps ended while it was parked stands nowhere; looking at all of them again decides only what is open.
  tick.ended.length = 0;
  for (const { ref } of tick.plan.steps) if (isEnded(draft.steps.get(ref)?.status)) tick.ended.push(ref);
  tick.rootsDue = true;
  return 'applied';
}
