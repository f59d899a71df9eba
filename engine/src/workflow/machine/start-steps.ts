/** Begins one step: hands it to a worker, does it inline, or sets its timer. */
import { DuctorError } from '../../kernel/index.js';
import { endCompleted, endFailed } from './end-run.js';
import { checkSize, ownFailure, tryPlan } from './failure.js';
import type { PlanStep, Template } from './plan.js';
import { schedule } from './schedule.js';
import { emit, type Tick } from './tick.js';
import { formatTimestampUs, storableUs } from './timestamp.js';
import { jsonValue, NULL_VALUE, type Value, type ValueSource } from './value.js';

/** Where the value of a template stands, or the value itself. Throws what the template throws, and value_too_large. */
export function sourceOf(tick: Tick, template: Template, what: string): ValueSource {
  const { source } = template;
  if (source === null) {
    return { kind: 'value', value: checkSize(jsonValue(template.evaluate(tick.scope)), what) };
  }
  if (source.kind !== 'stepOutput') return source;
  const output = tick.draft.steps.get(source.path)?.output ?? null;
  return output === null ? { kind: 'value', value: NULL_VALUE } : source;
}

function valueAt(tick: Tick, source: ValueSource): Value {
  if (source.kind === 'value') return source.value;
  if (source.kind === 'runInput') return tick.draft.input;
  return tick.draft.steps.get(source.path)?.output ?? NULL_VALUE;
}

function startCallback(tick: Tick, step: PlanStep & { readonly type: 'CALLBACK' }): void {
  const input = sourceOf(tick, step.input, `the input of step ${step.ref}`);
  schedule(tick, step.ref, 1, input);
}

function runDataflow(tick: Tick, step: PlanStep & { readonly type: 'DATAFLOW' }): void {
  const output = checkSize(jsonValue(step.transform(tick.scope)), `the output of step ${step.ref}`);
  emit(tick, { kind: 'step_completed', path: step.ref, attempt: 0, output });
  tick.ended.push(step.ref);
}

function startWait(tick: Tick, step: PlanStep & { readonly type: 'WAIT' }): void {
  const us = step.wakeAtUs(tick.scope, tick.nowUs);
  if (!Number.isFinite(us)) {
    throw new DuctorError('expression_failed', `the wait ends at ${us} us since 1970, which is no time`);
  }
  const wakeAtUs = storableUs(us);
  emit(tick, { kind: 'step_waiting', path: step.ref, wakeAtUs });
  if (wakeAtUs <= tick.nowUs) endWait(tick, step.ref);
}

/** Ends a wait whose time has come. */
export function endWait(tick: Tick, path: string): void {
  const output = jsonValue({ woke_at: formatTimestampUs(tick.nowUs) });
  emit(tick, { kind: 'step_completed', path, attempt: 0, output });
  tick.ended.push(path);
}

function runSwitch(tick: Tick, step: PlanStep & { readonly type: 'SWITCH' }): void {
  const output = jsonValue({ case: step.choose(tick.scope) });
  emit(tick, { kind: 'step_completed', path: step.ref, attempt: 0, output });
  tick.ended.push(step.ref);
}

/** Fails the run, whatever becomes of the message. */
function runFail(tick: Tick, step: PlanStep & { readonly type: 'FAIL' }): void {
  const { ref, code } = step;
  const message = tryPlan(() => step.message(tick.scope));
  const error = message.ok
    ? { code, message: message.value, step: ref, attempt: 0, retryable: false, stack: '' }
    : ownFailure(ref, message.error, 'message: ');
  emit(tick, { kind: 'step_failed', path: ref, attempt: 0, error });
  endFailed(tick, error);
}

function runComplete(tick: Tick, step: PlanStep & { readonly type: 'COMPLETE' }): void {
  const output = valueAt(tick, sourceOf(tick, step.output, `the output of step ${step.ref}`));
  emit(tick, { kind: 'step_completed', path: step.ref, attempt: 0, output });
  endCompleted(tick, { kind: 'stepOutput', path: step.ref });
}

function begin(tick: Tick, step: PlanStep): void {
  switch (step.type) {
    case 'CALLBACK':
      return startCallback(tick, step);
    case 'DATAFLOW':
      return runDataflow(tick, step);
    case 'WAIT':
      return startWait(tick, step);
    case 'SWITCH':
      return runSwitch(tick, step);
    case 'FAIL':
      return runFail(tick, step);
    case 'COMPLETE':
      return runComplete(tick, step);
  }
}

/** Begins a step. An expression that fails, fails the step; anything but a DuctorError propagates. */
export function startStep(tick: Tick, step: PlanStep): void {
  const begun = tryPlan(() => begin(tick, step));
  if (begun.ok) return;
  emit(tick, { kind: 'step_failed', path: step.ref, attempt: 0, error: ownFailure(step.ref, begun.error) });
  tick.ended.push(step.ref);
}
