/** Lets ended steps take effect: edges resolve, joins start or skip their steps, an unhandled failure fails the run. */
import { impossible } from '../../kernel/index.js';
import { failRun } from './end-run.js';
import { ownFailure, tryPlan } from './failure.js';
import type { PlanEdge, PlanStep } from './plan.js';
import { stopLosers } from './losers.js';
import { decide, isEnded, resolveEdge } from './resolve-edges.js';
import { startStep } from './start-steps.js';
import { emit, goesOn, planStepAt, type EdgeResolution, type Tick } from './tick.js';

/** How the edge resolved; null when its condition failed, which has failed the run. */
function resolved(tick: Tick, edge: PlanEdge): EdgeResolution | null {
  const tried = tryPlan(() => resolveEdge(tick, edge));
  if (tried.ok) return tried.value;
  const prefix = `condition of edge ${edge.sourceRef} -> ${edge.targetRef} (${edge.type}): `;
  failRun(tick, ownFailure('', tried.error, prefix));
  return null;
}

/** Resolves all edges of an ended step. False when that fails the run. */
function resolveOutgoing(tick: Tick, step: PlanStep): boolean {
  let isHandled = false;
  for (const edge of step.outgoing) {
    const resolution = resolved(tick, edge);
    if (resolution === null) return false;
    isHandled ||= resolution === 'FIRED';
  }
  const state = tick.draft.steps.get(step.ref);
  if (state === undefined || state.status !== 'FAILED' || isHandled) return true;
  const error = state.error ?? impossible('failed-step', `step ${step.ref} failed without a reason`);
  failRun(tick, error);
  return false;
}

/** Decides a join as soon as the edges that are resolved do: for `all` once the last of its sources has ended. */
function decideJoin(tick: Tick, step: PlanStep): void {
  const { steps } = tick.draft;
  const { join, incoming } = step;
  if (steps.get(step.ref) !== undefined) return;
  const ended = incoming.filter(({ sourceRef }) => isEnded(steps.get(sourceRef)?.status));
  if (join.mode === 'all' && ended.length < incoming.length) return;
  const resolutions: EdgeResolution[] = [];
  for (const edge of ended) {
    const resolution = resolved(tick, edge);
    if (resolution === null) return;
    resolutions.push(resolution);
  }
  const decision = decide(join, resolutions, incoming.length - ended.length);
  if (decision === 'start') {
    startStep(tick, step);
    if (join.mode === 'n_of' && join.cancelLosers && goesOn(tick)) stopLosers(tick, step);
  } else if (decision === 'skip') {
    emit(tick, { kind: 'step_skipped', path: step.ref });
    tick.ended.push(step.ref);
  }
}

/** Follows tick.ended until nothing is left to decide or the run stops going on. */
function followEnded(tick: Tick): void {
  // Steps that end on the way are appended, and the iteration comes to them.
  for (const path of tick.ended) {
    if (!goesOn(tick)) return;
    const step = planStepAt(tick, path);
    if (!resolveOutgoing(tick, step)) return;
    for (const edge of step.outgoing) {
      decideJoin(tick, planStepAt(tick, edge.targetRef));
      if (!goesOn(tick)) return;
    }
  }
}

function startRoots(tick: Tick): void {
  for (const step of tick.plan.steps) {
    if (!goesOn(tick)) return;
    const isRoot = step.incoming.length === 0 && step.compensates === null;
    if (isRoot && tick.draft.steps.get(step.ref) === undefined) startStep(tick, step);
  }
}

/** Begins what waits for no other step, then follows ended steps until nothing is left to decide. */
export function propagate(tick: Tick): void {
  if (!goesOn(tick)) return;
  if (tick.rootsDue) startRoots(tick);
  followEnded(tick);
}
