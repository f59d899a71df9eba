/** Begins one step: hands it to a worker, does it inline, sets its timer, or opens its body. */
import { startClaim } from './claim-step.js';
import { DuctorError } from '../../kernel/index.js';
import { wantsOf } from './gate.js';
import { gather, openLoop, openScatter } from './open-body.js';
import { continueAsNew } from './continue.js';
import { endCompleted, endFailed } from './end-run.js';
import { checkSize, ownFailure, tryPlan } from './failure.js';
import { pathIn } from './path.js';
import type { PlanStep } from './plan.js';
import { valueOf } from './resolve-source.js';
import { startRoute } from './route-step.js';
import { schedule } from './schedule.js';
import { awaitUpdate, startAwaiting } from './signals.js';
import { keysOf } from './step-keys.js';
import { startSelect } from './select-step.js';
import { holdingFamily, mayHoldAbove } from './selecting.js';
import { sourceOf } from './source-of.js';
import { emit, type Place, type Tick } from './tick.js';
import { formatTimestampUs, storableUs } from './timestamp.js';
import { jsonValue } from './value.js';

/** A step of a type, where it runs, and its path. */
interface Begun<T extends PlanStep['type']> {
  readonly step: PlanStep & { readonly type: T };
  readonly place: Place;
  readonly path: string;
}

function startCallback(tick: Tick, { step, place, path }: Begun<'CALLBACK'>): void {
  if (step.takes !== null) return awaitUpdate(tick, step.takes.name, path);
  const input = sourceOf(tick, place, step.input, `the input of step ${path}`);
  schedule(tick, path, { input, keys: keysOf(tick, step, place), wants: wantsOf(place, step.semaphores) });
}

function runDataflow(tick: Tick, { step, place, path }: Begun<'DATAFLOW'>): void {
  const output = checkSize(jsonValue(step.transform(place.expressions)), `the output of step ${path}`);
  emit(tick, { kind: 'step_completed', path, attempt: 0, output });
  tick.ended.push(path);
}

function startWait(tick: Tick, { step, place, path }: Begun<'WAIT'>): void {
  const us = step.wakeAtUs(place.expressions, tick.nowUs);
  if (!Number.isFinite(us)) {
    throw new DuctorError('expression_failed', `the wait ends at ${us} us since 1970, which is no time`);
  }
  const wakeAtUs = storableUs(us);
  emit(tick, { kind: 'step_waiting', path, wakeAtUs });
  if (wakeAtUs <= tick.nowUs) endWait(tick, path);
}

/** Ends a wait whose time has come. */
export function endWait(tick: Tick, path: string): void {
  const output = jsonValue({ woke_at: formatTimestampUs(tick.nowUs) });
  emit(tick, { kind: 'step_completed', path, attempt: 0, output });
  tick.ended.push(path);
}

function runSwitch(tick: Tick, { step, place, path }: Begun<'SWITCH'>): void {
  const output = jsonValue({ case: step.choose(place.expressions) });
  emit(tick, { kind: 'step_completed', path, attempt: 0, output });
  tick.ended.push(path);
}

/** Fails the run, whatever becomes of the message. */
function runFail(tick: Tick, { step, place, path }: Begun<'FAIL'>): void {
  const { code } = step;
  const message = tryPlan(() => step.message(place.expressions));
  const error = message.ok
    ? { code, message: message.value, step: path, attempt: 0, retryable: false, stack: '' }
    : ownFailure(path, message.error, 'message: ');
  emit(tick, { kind: 'step_failed', path, attempt: 0, error });
  endFailed(tick, error);
}

function runComplete(tick: Tick, { step, place, path }: Begun<'COMPLETE'>): void {
  const source = sourceOf(tick, place, step.output, `the output of step ${path}`);
  emit(tick, { kind: 'step_completed', path, attempt: 0, output: valueOf(tick.draft, source, path) });
  endCompleted(tick, { kind: 'stepOutput', path });
}

const HELD = { mayHold: true } as const;

/** Sends the message that starts a child run. */
function startChild(tick: Tick, { step, place, path }: Begun<'SUB_WORKFLOW'>): void {
  const { familySlug, version, isDetached, closePolicy: policy } = step;
  const { draft } = tick;
  const input = sourceOf(tick, place, step.input, `the input of step ${path}`);
  const parentId = draft.before.runId;
  const runId = tick.newId();
  emit(tick, { kind: 'child_started', path, runId, familySlug, version, input, policy, isDetached });
  const rootId = draft.family?.rootId ?? draft.chain?.chainId ?? parentId;
  const holds = mayHoldAbove(tick.plan, draft);
  const family = { rootId, parentId, parentPath: path, notifies: !isDetached, ...(holds ? HELD : {}) };
  const traced = draft.traceparent === undefined ? {} : { traceparent: draft.traceparent };
  const birth = { familySlug, version, family };
  const start = { kind: 'start', input: valueOf(draft, input, path), attributes: {}, birth, ...traced } as const;
  tick.messages.push({ runId, input: start });
  if (holds) tick.gate.bear(holdingFamily(draft), runId);
  if (!isDetached) return;
  emit(tick, { kind: 'step_completed', path, attempt: 0, output: jsonValue({ run_id: runId }) });
  tick.ended.push(path);
}

function begin(tick: Tick, step: PlanStep, place: Place, path: string): void {
  switch (step.type) {
    case 'CALLBACK':
      return startCallback(tick, { step, place, path });
    case 'DATAFLOW':
      return runDataflow(tick, { step, place, path });
    case 'WAIT':
      return startWait(tick, { step, place, path });
    case 'SWITCH':
      return runSwitch(tick, { step, place, path });
    case 'FAIL':
      return runFail(tick, { step, place, path });
    case 'COMPLETE':
      return runComplete(tick, { step, place, path });
    case 'SCATTER':
      return openScatter(tick, step, place, path);
    case 'LOOP':
      return openLoop(tick, step, place, path);
    case 'GATHER':
      return gather(tick, step, place, path);
    case 'SUB_WORKFLOW':
      return startChild(tick, { step, place, path });
    case 'SIGNAL':
    case 'APPROVAL':
      return startAwaiting(tick, step, place, path);
    case 'SELECT':
      return startSelect(tick, step, place, path);
    case 'CLAIM':
      return startClaim(tick, step, place, path);
    case 'ROUTE':
      return startRoute(tick, step, place, path);
    case 'CONTINUE_AS_NEW':
      return continueAsNew(tick, step, place, path);
  }
}

/** Begins a step. An expression that fails, fails the step; anything but a DuctorError propagates. */
export function startStep(tick: Tick, step: PlanStep, place: Place): void {
  const path = pathIn(place.scope, step.ref);
  const begun = tryPlan(() => begin(tick, step, place, path));
  if (begun.ok) return;
  emit(tick, { kind: 'step_failed', path, attempt: 0, error: ownFailure(path, begun.error) });
  tick.ended.push(path);
}
