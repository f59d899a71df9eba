/** How a run asks for itself as a whole, and begins when it is let in; what a gate is: gate-state.ts. */
import type { Want } from '../../capacity/index.js';
import { isEndDecided } from './draft.js';
import { ownFailure, tryPlan } from './failure.js';
import { awaitedGate, gateDueUs, newTicket } from './gate-state.js';
import type { Disposition, RunInput } from './inputs.js';
import type { SemaphorePlan, Template } from './plan.js';
import { isEnded } from './resolve-edges.js';
import { emit, placeAt, type Place, type Tick } from './tick.js';
import { storableUs } from './timestamp.js';

/** What of a step, or of a run, has to be granted; empty: nothing. Throws DuctorError expression_failed. */
export function wantsOf(place: Place, plan: SemaphorePlan | null): readonly Want[] {
  if (plan === null) return [];
  const text = (key: Template): string => String(key.evaluate(place.expressions));
  const wants: Want[] = plan.concurrency.map(({ key, limit }) => ({ kind: 'concurrency', key: text(key), limit }));
  if (plan.rate === null) return wants;
  const { key, limit, perUs } = plan.rate;
  return [...wants, { kind: 'rate', key: text(key), limit, perUs }];
}

/** Lets the steps of a run begin, or first what the run as a whole needs be granted: it asks with the next wake. */
export function beginSteps(tick: Tick): void {
  tick.rootsDue = !lineUpRun(tick);
}

/** Computes what the run as a whole has to be granted. False: nothing. */
function lineUpRun(tick: Tick): boolean {
  const wants = tryPlan(() => wantsOf(placeAt(tick, ''), tick.plan.semaphores));
  if (!wants.ok) emit(tick, { kind: 'run_failing', error: ownFailure('', wants.error) });
  else if (wants.value.length > 0) emit(tick, { kind: 'run_asked', ticket: 0, wants: wants.value });
  return !wants.ok || wants.value.length > 0;
}

/** Lets the run in, or lets it ask, as its time has come. */
export function runGateDue(tick: Tick): boolean {
  const { draft } = tick;
  const dueUs = gateDueUs(draft);
  if (draft.gate === null || dueUs === null || dueUs > tick.nowUs || isEndDecided(draft)) return false;
  if (draft.gate.state === 'held') grantRun(tick, 0);
  else askForRun(tick, draft.gate.wants);
  return true;
}

/** Asks for a run that is not in line. */
export function askForRun(tick: Tick, wants: readonly Want[]): void {
  const ticket = newTicket(tick.draft);
  emit(tick, { kind: 'run_asked', ticket, wants });
  const startAtUs = tick.gate.ask('', ticket, wants);
  if (startAtUs !== null) grantRun(tick, startAtUs);
}

/** @param startAtUs when it begins, microseconds since 1970; 0: at once */
function grantRun(tick: Tick, startAtUs: number): void {
  const atUs = startAtUs <= tick.nowUs ? 0 : storableUs(startAtUs);
  emit(tick, { kind: 'run_granted', startAtUs: atUs });
  if (atUs !== 0) return;
  tick.rootsDue = true;
  // Steps that a fork keeps took no effect while it waited.
  for (const { path, status } of [...tick.draft.steps.values()]) if (isEnded(status)) tick.ended.push(path);
}

/** The run as a whole was granted what it waits for, or may ask again. */
export function applyRunTurn(tick: Tick, input: RunInput & { readonly kind: 'semaphore' }): Disposition {
  const gate = awaitedGate(tick.draft, input);
  if (gate === undefined) return 'ignored';
  const startAtUs = input.startAtUs ?? tick.gate.ask('', gate.ticket, gate.wants);
  if (startAtUs === null) return 'ignored';
  grantRun(tick, startAtUs);
  return 'applied';
}
