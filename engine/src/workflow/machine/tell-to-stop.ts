/** Stops steps that are under way: the whole run ends, or only some of its steps are of no use any more. */
import { tellChild } from './child.js';
import { ownerOfScope } from './path.js';
import type { StepState } from './state.js';
import { isActiveStatus, isBodyStatus, isWaitingStatus } from './step-table.js';
import { callbackAt, emit, type Tick } from './tick.js';
import { storableUs } from './timestamp.js';

/** Ends a step that waits for time alone: nobody works on it. Attempt 0: the attempts made have their outcomes (M5). */
function endWaiting(tick: Tick, path: string): void {
  emit(tick, { kind: 'step_cancelled', path, attempt: 0, abandoned: false });
}

/** Ends the steps that wait for time alone; a child goes on. */
export function cancelWaiting(tick: Tick): void {
  if (tick.draft.steps.waiting() === 0) return;
  const waiting = [...tick.draft.steps.values()].filter((step) => isWaitingStatus(step.status) && step.child === null);
  for (const { path } of waiting) endWaiting(tick, path);
}

/**
 * Tells the attempt of a step to stop. One that was scheduled in this very tick never left and ends with that; one that
 * gets no time to end is abandoned with that, so that a wake at the same time finds nothing (M1).
 */
function tellToStop(tick: Tick, { path, attempt }: StepState): void {
  const isHere = tick.scheduled.has(path);
  const waitMs = isHere ? 0 : callbackAt(tick, path).cancelTimeoutMs;
  emit(tick, { kind: 'step_cancelling', path, attempt, deadlineUs: storableUs(tick.nowUs + waitMs * 1000) });
  if (!isHere) tick.commands.push({ kind: 'abort', path, attempt, reason: 'cancelled' });
  if (waitMs <= 0) emit(tick, { kind: 'step_cancelled', path, attempt, abandoned: !isHere });
}

/** Stops one step with all of its body, whatever it does; nothing when it has ended or was told before. */
export function stopStep(tick: Tick, step: StepState): void {
  if (isWaitingStatus(step.status)) {
    if (step.child === null) endWaiting(tick, step.path);
    else tellChild(tick, step, step.child);
  } else if (isActiveStatus(step.status) && step.status !== 'CANCELLING') tellToStop(tick, step);
  else if (isBodyStatus(step.status)) {
    if (step.status === 'OPEN') emit(tick, { kind: 'step_closing', path: step.path, error: null });
    stopBody(tick, step.path);
    tick.owners.add(step.path);
  }
}

/**
 * Stops every step that is under way, but no compensation: that comes to its end. Evaluates nothing of the plan. Steps
 * that run bodies end last, with the run.
 */
export function stopAll(tick: Tick): void {
  if (tick.draft.compensating !== null) return;
  cancelWaiting(tick);
  if (tick.draft.steps.active() === 0 && tick.draft.steps.waiting() === 0) return;
  for (const step of [...tick.draft.steps.values()]) if (!isBodyStatus(step.status)) stopStep(tick, step);
}

/** Paths of the steps of a scope that are under way, those of bodies within it too. */
function* underWay(tick: Tick, scope: string): Generator<StepState, undefined> {
  for (const path of tick.draft.steps.scope(scope)?.members ?? []) {
    const step = tick.draft.steps.get(path);
    if (step === undefined) continue;
    if (isBodyStatus(step.status)) for (const inner of scopesOf(tick, path)) yield* underWay(tick, inner);
    else if (isActiveStatus(step.status) || isWaitingStatus(step.status)) yield step;
  }
}

/** The scopes of a step that runs a body. */
function scopesOf(tick: Tick, owner: string): readonly string[] {
  return [...tick.draft.steps.scopes()].flatMap(({ name }) => (ownerOfScope(name) === owner ? name : []));
}

/** How far a scope is stopped: what waits for time ends; what is under way is told to stop, or may end. */
export type Stop = 'cancel' | 'drain';

/** Stops a scope and all within it. */
export function stopScope(tick: Tick, scope: string, how: Stop): void {
  for (const step of [...underWay(tick, scope)]) {
    if (how === 'cancel' || (isWaitingStatus(step.status) && step.child === null)) stopStep(tick, step);
  }
  // A step within that runs a body and has nothing under way ends with that.
  for (const path of tick.draft.steps.scope(scope)?.members ?? []) {
    const status = tick.draft.steps.get(path)?.status;
    if (status !== undefined && isBodyStatus(status)) tick.owners.add(path);
  }
}

/** Stops all that the body of a step has under way. */
export function stopBody(tick: Tick, owner: string, how: Stop = 'cancel'): void {
  for (const scope of scopesOf(tick, owner)) stopScope(tick, scope, how);
}
