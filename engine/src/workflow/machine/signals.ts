/**
 * Signals: what is received is kept until a step takes it.
 *
 * 1. A signal is received once, also by a run that is held or comes to its end: it stands in the journal.
 * 2. Of one name the first that came is taken first, by the step that has waited longest.
 * 3. A step takes at most one, and only while the run goes on.
 * 4. An update goes the same way; its step may be one that begins its attempts with it (answer-update.ts).
 */
import { refusalOf } from './answer-update.js';
import { fits } from './awaited.js';
import { decisionOutput } from './decision.js';
import { wantsOf } from './gate.js';
import { failStep } from './fail-step.js';
import type { Disposition, RunInput } from './inputs.js';
import { scopeOfPath } from './path.js';
import { ownFailure, tryPlan } from './failure.js';
import type { PlanStep } from './plan.js';
import { schedule } from './schedule.js';
import { expressionsOf } from './scope.js';
import { hasSeen, type Signal } from './signal-box.js';
import { sourceOf } from './source-of.js';
import { keysOf } from './step-keys.js';
import type { Awaited } from './state.js';
import { emit, goesOn, placeAt, planStepAt, scopeGoesOn, type Place, type Tick } from './tick.js';
import { formatTimestampUs } from './timestamp.js';

/** Ends a wait by the first signal in the box that fits; false when there is none. */
function take(tick: Tick, path: string, awaits: Awaited): boolean {
  const signal = tick.draft.signals.waiting.find((one) => fits(awaits, one));
  if (signal === undefined) return false;
  const { name, id } = signal;
  const step = planStepAt(tick, path);
  if (step.type === 'CALLBACK') {
    takeUpdate(tick, step, path, signal);
    return true;
  }
  const output = awaits.approval === null ? null : decisionOutput(signal, tick.nowUs);
  emit(tick, { kind: 'signal_taken', path, name, id, output });
  tick.ended.push(path);
  return true;
}

/** Begins the first attempt of a step with the update that it waited for, or first what it needs be granted. */
function takeUpdate(
  tick: Tick,
  step: PlanStep & { readonly type: 'CALLBACK' },
  path: string,
  { name, id, payload }: Signal,
): void {
  emit(tick, { kind: 'update_taken', path, name, id });
  const scope = scopeOfPath(path);
  const place = { ...placeAt(tick, scope), expressions: expressionsOf(tick.draft, scope, payload) };
  const begun = tryPlan(() => {
    const isInput = step.takes?.isInput === true;
    const input = isInput
      ? ({ kind: 'value', value: payload } as const)
      : sourceOf(tick, place, step.input, `the input of step ${path}`);
    schedule(tick, path, { input, keys: keysOf(tick, step, place), wants: wantsOf(place, step.semaphores) });
  });
  if (begun.ok) return;
  emit(tick, { kind: 'step_failed', path, attempt: 0, error: ownFailure(path, begun.error) });
  tick.ended.push(path);
}

/** Begins to wait for the update that a step takes; one that came early is taken at once. */
export function awaitUpdate(tick: Tick, name: string, path: string): void {
  const awaits = { name, deadlineUs: null, approval: null };
  emit(tick, { kind: 'step_awaiting', path, ...awaits });
  take(tick, path, awaits);
}

/** Lets all steps that wait for signals take what has come. */
export function takeAll(tick: Tick): void {
  const { draft } = tick;
  if (draft.signals.waiting.length === 0 || draft.steps.waiting() === 0 || !goesOn(tick)) return;
  for (const { path, awaits } of [...draft.steps.values()]) {
    if (awaits && scopeGoesOn(tick, scopeOfPath(path))) take(tick, path, awaits);
  }
}

/** Receives a signal. */
export function applySignal(tick: Tick, input: RunInput & { readonly kind: 'signal' }): Disposition {
  const { draft } = tick;
  const { name, id, payload, by } = input;
  if (!draft.started || draft.closed !== null || hasSeen(draft.signals, name, id, tick.nowUs)) return 'ignored';
  const update = tick.plan.updates.get(name);
  const error = update === undefined ? null : refusalOf(tick, update, input);
  if (error !== null) {
    emit(tick, { kind: 'update_answered', name, id, output: null, error });
    return 'applied';
  }
  emit(tick, { kind: 'signal_received', name, id, payload, by });
  takeAll(tick);
  return 'applied';
}

/** Begins to wait; what came early is taken at once. */
export function startAwaiting(
  tick: Tick,
  step: PlanStep & { readonly type: 'SIGNAL' | 'APPROVAL' },
  { expressions }: Place,
  path: string,
): void {
  const deadlineUs = step.deadlineUs(expressions, tick.nowUs);
  const approval = step.type === 'APPROVAL' ? step.open(expressions, tick.nowUs) : null;
  const awaits = { name: step.signal, deadlineUs, approval };
  emit(tick, { kind: 'step_awaiting', path, ...awaits });
  // What is due already happens now: a wake at the same time finds nothing (M1).
  if (!take(tick, path, awaits)) awaitedTooLong(tick, path, awaits);
}

/** Escalates an approval whose time for that has come, and ends a wait for what did not come in time. */
export function awaitedTooLong(tick: Tick, path: string, { name, deadlineUs, approval }: Awaited): void {
  const escalation = approval?.escalation ?? null;
  const isOver = deadlineUs !== null && deadlineUs <= tick.nowUs;
  if (!isOver && escalation !== null && escalation.atUs <= tick.nowUs) {
    emit(tick, { kind: 'approval_escalated', path });
    const awaits = tick.draft.steps.get(path)?.awaits;
    if (awaits) take(tick, path, awaits);
  }
  if (!isOver) return;
  const what = approval === null ? `signal ${name} did not come` : 'nobody decided';
  const message = `${what} by ${formatTimestampUs(deadlineUs)}`;
  failStep(tick, path, { code: 'timeout', message });
}
