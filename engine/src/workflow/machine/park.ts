/**
 * Parking and pause hold a run as it is: results of open attempts are recorded, nothing else happens until it is
 * resumed. Times of steps stay as they are: what came due meanwhile happens with the resume. Only the run's own
 * timeout, and the time an attempt may wait for a worker, are moved by the time the run was held (apply-entry.ts).
 */
import type { Disposition, RunInput } from './inputs.js';
import { isHeld } from './draft.js';
import { askForRun } from './gate.js';
import { isEnded } from './resolve-edges.js';
import { scopeOfPath } from './path.js';
import { schedule } from './schedule.js';
import { isBodyStatus } from './step-table.js';
import { takeAll } from './signals.js';
import { emit, goesOn, mayTryAgain, type Tick } from './tick.js';
import { catchUp } from './wake.js';

/** Holds an open run. */
export function applyPark(tick: Tick, input: RunInput & { readonly kind: 'park' }): Disposition {
  const { draft } = tick;
  if (!draft.started || draft.closed !== null || draft.parked !== null) return 'ignored';
  emit(tick, { kind: 'run_parked', code: input.code, message: input.message, step: '' });
  return 'applied';
}

/** Pauses a run that goes on: attempts no worker has are taken off the queue, those under way may end. */
export function applyPause(tick: Tick, input: RunInput & { readonly kind: 'pause' }): Disposition {
  const { draft } = tick;
  // One that continues as new is held before its end: its successor would not know of the pause.
  const isContinuing = draft.closed === null && !isHeld(draft) && draft.ending === 'CONTINUED';
  if (!draft.started || (!goesOn(tick) && !isContinuing)) return 'ignored';
  emit(tick, { kind: 'run_paused', reason: input.reason, requestedBy: input.requestedBy });
  for (const { path, attempt, status } of draft.steps.values()) {
    if (status === 'SCHEDULED') tick.commands.push({ kind: 'withdraw', path, attempt });
  }
  return 'applied';
}

/** Orders that may have been lost or held back while the run was held. */
function repeatOrders(tick: Tick): void {
  for (const { path, attempt, status } of tick.draft.steps.values()) {
    if (status === 'SCHEDULED') tick.commands.push({ kind: 'dispatch', path, attempt });
    if (status === 'CANCELLING') tick.commands.push({ kind: 'abort', path, attempt, reason: 'cancelled' });
  }
}

/** Whoever left its line when the run was held, asks again. */
function lineUpAgain(tick: Tick): void {
  const { draft } = tick;
  if (draft.gate?.state === 'left' && draft.gate.ticket > 0 && goesOn(tick)) askForRun(tick, draft.gate.wants);
  if (draft.steps.waiting() === 0 || !mayTryAgain(tick)) return;
  for (const { path, status, gate } of [...draft.steps.values()]) {
    if (status === 'WAITING' && gate?.state === 'left') schedule(tick, path, null);
  }
}

/** Lets a run that was held go on: whatever ended or came due meanwhile takes effect now. */
function goOn(tick: Tick): void {
  const { draft } = tick;
  repeatOrders(tick);
  // First, so that what came in time is not overdue.
  takeAll(tick);
  catchUp(tick);
  lineUpAgain(tick);
  // Which steps ended while it was held stands nowhere; looking at all of them again decides only what is open.
  tick.ended.length = 0;
  for (const { ref } of tick.plan.steps) if (isEnded(draft.steps.get(ref)?.status)) tick.ended.push(ref);
  tick.rootsDue = true;
  if (draft.steps.bodies() === 0) return;
  for (const { path, status } of draft.steps.values()) {
    if (isBodyStatus(status)) tick.owners.add(path);
    if (scopeOfPath(path) !== '' && isEnded(status)) tick.ended.push(path);
  }
}

/** Ends parking and pause. */
export function applyResume(tick: Tick, input: RunInput & { readonly kind: 'resume' }): Disposition {
  const { draft } = tick;
  if (!isHeld(draft) || draft.closed !== null) return 'ignored';
  emit(tick, { kind: 'run_resumed', requestedBy: input.requestedBy ?? '' });
  goOn(tick);
  return 'applied';
}

/** Ends parking, and begins the next attempt of the step that parked the run, whatever its retry wait. */
export function applyRetry(tick: Tick, input: RunInput & { readonly kind: 'retry' }): Disposition {
  const { draft } = tick;
  const { parked } = draft;
  if (parked === null || draft.closed !== null) return 'ignored';
  emit(tick, { kind: 'run_resumed', requestedBy: input.requestedBy });
  const step = draft.steps.get(parked.step);
  if (step?.status === 'BACKOFF' && mayTryAgain(tick)) schedule(tick, step.path, null);
  goOn(tick);
  return 'applied';
}
