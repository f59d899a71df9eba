/**
 * Signals: what is received is kept until a step takes it.
 *
 * 1. A signal is received once, also by a run that is held or comes to its end: it stands in the journal.
 * 2. Of one name the first that came is taken first, by the step that has waited longest.
 * 3. A step takes at most one, and only while the run goes on.
 */
import { fits } from './awaited.js';
import { decisionOutput } from './decision.js';
import type { Disposition, RunInput } from './inputs.js';
import { scopeOfPath } from './path.js';
import type { PlanStep } from './plan.js';
import { hasSeen } from './signal-box.js';
import type { Awaited } from './state.js';
import { emit, goesOn, scopeGoesOn, type Place, type Tick } from './tick.js';
import { formatTimestampUs } from './timestamp.js';

/** Ends a wait by the first signal in the box that fits; false when there is none. */
function take(tick: Tick, path: string, awaits: Awaited): boolean {
  const signal = tick.draft.signals.waiting.find((one) => fits(awaits, one));
  if (signal === undefined) return false;
  const { name, id } = signal;
  const output = awaits.approval === null ? null : decisionOutput(signal, tick.nowUs);
  emit(tick, { kind: 'signal_taken', path, name, id, output });
  tick.ended.push(path);
  return true;
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
  const error = { code: 'timeout', message, step: path, attempt: 0, retryable: false, stack: '' };
  emit(tick, { kind: 'step_failed', path, attempt: 0, error });
  tick.ended.push(path);
}
