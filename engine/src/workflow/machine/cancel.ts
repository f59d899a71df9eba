/** The request to end a run. It reaches every open step; the run is CANCELLED when all of them ended (M10). */
import type { Disposition, RunInput } from './inputs.js';
import { stopAll } from './tell-to-stop.js';
import { emit, type Tick } from './tick.js';

/**
 * Asks the run to end. Evaluates nothing of the plan, so that a run parked for a faulty plan can be ended by it.
 * Ignored once a COMPLETE step or the run's timeout has decided how it ends. A run that is about to continue as new
 * is cancelled: the request is for the chain.
 */
export function applyCancel(tick: Tick, input: RunInput & { readonly kind: 'cancel' }): Disposition {
  const { draft } = tick;
  if (!draft.started || draft.closed !== null || draft.cancel !== null) return 'ignored';
  if (draft.ending !== null && draft.ending !== 'CONTINUED') return 'ignored';
  emit(tick, { kind: 'cancel_requested', reason: input.reason, requestedBy: input.requestedBy });
  stopAll(tick);
  return 'applied';
}
