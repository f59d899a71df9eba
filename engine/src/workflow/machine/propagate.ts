/** Lets ended steps take effect: edges resolve, joins start or skip their steps, an unhandled failure fails the run. */
import { impossible } from '../../kernel/index.js';
import { failRun } from './end-run.js';
import { isRunPending } from './gate-state.js';
import { ownFailure, tryPlan } from './failure.js';
import type { PlanEdge, PlanStep } from './plan.js';
import { stopLosers } from './losers.js';
import { pathIn, scopeOfPath } from './path.js';
import { decide, isEnded, resolveEdge } from './resolve-edges.js';
import { endScope, failScope, goOnBody } from './run-bodies.js';
import { startStep } from './start-steps.js';
import type { RunFailure } from './state.js';
import { emit, goesOn, placeAt, planStepAt, scopeGoesOn, type EdgeResolution, type Place, type Tick } from './tick.js';

/** Nothing handles this failure in the place it came about in. */
function failPlace(tick: Tick, { scope }: Place, error: RunFailure): void {
  if (scope === '') failRun(tick, error);
  else failScope(tick, scope, error);
}

/** How the edge resolved; null when its condition failed, which has failed the run or the item of the body. */
function resolved(tick: Tick, place: Place, edge: PlanEdge): EdgeResolution | null {
  const tried = tryPlan(() => resolveEdge(tick, place, edge));
  if (tried.ok) return tried.value;
  const prefix = `condition of edge ${edge.sourceRef} -> ${edge.targetRef} (${edge.type}): `;
  failPlace(tick, place, ownFailure(place.scope, tried.error, prefix));
  return null;
}

/** Resolves all edges of an ended step. False when that fails the run or the item of the body. */
function resolveOutgoing(tick: Tick, place: Place, step: PlanStep): boolean {
  let isHandled = false;
  for (const edge of step.outgoing) {
    const resolution = resolved(tick, place, edge);
    if (resolution === null) return false;
    isHandled ||= resolution === 'FIRED';
  }
  const state = tick.draft.steps.get(pathIn(place.scope, step.ref));
  if (state === undefined || state.status !== 'FAILED' || isHandled) return true;
  failPlace(tick, place, state.error ?? impossible('failed-step', `step ${state.path} failed without a reason`));
  return false;
}

/** Decides a join as soon as the edges that are resolved do: for `all` once the last of its sources has ended. */
function decideJoin(tick: Tick, place: Place, step: PlanStep): void {
  const { steps } = tick.draft;
  const { join, incoming } = step;
  const path = pathIn(place.scope, step.ref);
  if (steps.get(path) !== undefined) return;
  const ended = incoming.filter(({ sourceRef }) => isEnded(steps.get(pathIn(place.scope, sourceRef))?.status));
  if (join.mode === 'all' && ended.length < incoming.length) return;
  const resolutions: EdgeResolution[] = [];
  for (const edge of ended) {
    const resolution = resolved(tick, place, edge);
    if (resolution === null) return;
    resolutions.push(resolution);
  }
  const decision = decide(join, resolutions, incoming.length - ended.length);
  if (decision === 'start') {
    startStep(tick, step, place);
    if (join.mode === 'n_of' && join.cancelLosers && scopeGoesOn(tick, place.scope)) stopLosers(tick, place, step);
  } else if (decision === 'skip') {
    emit(tick, { kind: 'step_skipped', path });
    tick.ended.push(path);
  }
}

/** Lets an ended step take effect in its place. */
function follow(tick: Tick, path: string): void {
  const scope = scopeOfPath(path);
  if (scope !== '') tick.touched.add(scope);
  // An item or iteration that is over has forgotten its steps.
  if (tick.draft.steps.get(path) === undefined || !scopeGoesOn(tick, scope)) return;
  const step = planStepAt(tick, path);
  const place = placeAt(tick, scope);
  if (!resolveOutgoing(tick, place, step)) return;
  for (const { targetRef } of step.outgoing) {
    decideJoin(tick, place, planStepAt(tick, targetRef));
    if (!scopeGoesOn(tick, scope)) return;
  }
}

function startRoots(tick: Tick): void {
  const place = placeAt(tick, '');
  for (const step of tick.plan.steps) {
    if (!goesOn(tick)) return;
    const isRoot = step.incoming.length === 0 && step.compensates === null;
    if (isRoot && tick.draft.steps.get(step.ref) === undefined) startStep(tick, step, place);
  }
}

/** Takes the first of a set; undefined when it is empty. */
function first(set: Set<string>): string | undefined {
  for (const one of set) {
    set.delete(one);
    return one;
  }
  return undefined;
}

/**
 * Begins what waits for no other step, then follows ended steps, bodies and their steps until nothing is left to decide
 * or the run does not go on.
 */
export function propagate(tick: Tick): void {
  if (isRunPending(tick.draft)) return;
  if (goesOn(tick) && tick.rootsDue) startRoots(tick);
  for (let at = 0; goesOn(tick);) {
    // Steps that end on the way are appended, and it comes to them: first all that follows within scopes.
    const path = tick.ended[at];
    if (path !== undefined) {
      at += 1;
      follow(tick, path);
      continue;
    }
    const scope = first(tick.touched);
    if (scope !== undefined) {
      endScope(tick, scope);
      continue;
    }
    const owner = first(tick.owners);
    if (owner === undefined) return;
    goOnBody(tick, owner);
  }
}
