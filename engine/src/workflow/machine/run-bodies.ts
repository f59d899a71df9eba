/**
 * Runs bodies: begins items and iterations, ends those whose steps have all ended, and the step that ran them.
 *
 * A scope ends once none of its steps is under way: as failed when a failure in it was not handled, as cancelled when
 * its body does not go on, else as completed. Its outcome goes into the step that runs the body, its steps leave the
 * state. That step then begins more, or ends once nothing of its body is under way.
 */
import { DuctorError, impossible } from '../../kernel/index.js';
import { openOf, scatterOutput } from './body-state.js';
import { bodyOutput } from './body-output.js';
import { ownFailure, tryPlan } from './failure.js';
import { indexOfScope, ownerOfScope, scopeName, scopeOfPath } from './path.js';
import type { PlanBody, PlanStep } from './plan.js';
import { selectOutput } from './selection.js';
import { startStep } from './start-steps.js';
import type { BodyState, RunFailure, StepState } from './state.js';
import { isActiveStatus, isBodyStatus, isWaitingStatus } from './step-table.js';
import { stopBody, stopScope } from './tell-to-stop.js';
import { emit, goesOn, placeAt, planStepAt, scopeGoesOn, type Tick } from './tick.js';
import type { ValueSource } from './value.js';

/**
 * Items and iterations that one tick begins; the next ones follow a microsecond later, in a tick of their own. So no
 * row grows with the length of a list, and other runs get their turn.
 */
const BEGIN_AT_MOST = 500;

type Select = PlanStep & { readonly type: 'SELECT' };

/** The failure of an item. */
interface Failed {
  readonly error: RunFailure;
  readonly index: number;
}

type Owner = StepState & { readonly body: BodyState };

/** The step that runs a body; undefined when it has ended. */
function ownerAt(tick: Tick, path: string): Owner | undefined {
  const step = tick.draft.steps.get(path);
  return step?.body && isBodyStatus(step.status) ? { ...step, body: step.body } : undefined;
}

function isUnderWay(tick: Tick, path: string): boolean {
  const status = tick.draft.steps.get(path)?.status;
  return status !== undefined && (isActiveStatus(status) || isWaitingStatus(status) || isBodyStatus(status));
}

/** A failure in a scope that nothing there handles: its steps may end or are stopped, then the scope fails. */
export function failScope(tick: Tick, scope: string, error: RunFailure): void {
  const state = tick.draft.steps.scope(scope);
  if (state === undefined || state.error !== null) return;
  const path = ownerOfScope(scope);
  if (!state.members.some((member) => isUnderWay(tick, member))) {
    scopeFailed(tick, scope, error);
    tick.owners.add(path);
    return;
  }
  emit(tick, { kind: 'body_failing', path, index: indexOfScope(scope), error });
  stopScope(tick, scope, tick.plan.onFailure);
  tick.touched.add(scope);
}

/** No more items begin; the step fails once those under way have ended. */
function closeOwner(tick: Tick, owner: Owner, error: RunFailure): void {
  emit(tick, { kind: 'step_closing', path: owner.path, error });
  stopBody(tick, owner.path, tick.plan.onFailure);
}

/** Ends a step that runs a body. */
function endOwner(tick: Tick, path: string, error: RunFailure | null): void {
  if (error === null) {
    emit(tick, { kind: 'step_cancelled', path, attempt: 0, abandoned: false });
    return;
  }
  emit(tick, { kind: 'step_failed', path, attempt: 0, error });
  tick.ended.push(path);
}

/** Begins the body for the next item or iteration. */
function beginNext(tick: Tick, owner: Owner, { body }: { readonly body: PlanBody }): void {
  const scope = scopeName(owner.path, owner.body.begun);
  tick.begun += 1;
  const place = placeAt(tick, scope);
  for (const root of body.steps) {
    if (!goesOn(tick)) return;
    if (root.incoming.length === 0) startStep(tick, root, place);
  }
}

/** Whether this tick may begin another item; otherwise says when the step goes on. */
function mayBegin(tick: Tick, owner: Owner): boolean {
  if (tick.begun < BEGIN_AT_MOST) return true;
  const atUs = tick.nowUs + 1;
  if (owner.dueAtUs !== atUs) emit(tick, { kind: 'step_continuing', path: owner.path, atUs });
  return false;
}

/** How a failed item counts: whose failure it is, and that it was one too many. */
function tooMany({ body }: Owner, error: RunFailure, index: number, tolerated: number): RunFailure {
  const item = `item ${index}`;
  const which =
    tolerated === 0 ? item : `${item} is failure ${body.failed} of ${body.count} items, ${tolerated} may fail`;
  return { ...error, message: `${which}: ${error.message}` };
}

function goOnScatter(tick: Tick, path: string, step: PlanStep & { readonly type: 'SCATTER' }): void {
  for (;;) {
    const owner = ownerAt(tick, path);
    if (owner === undefined || !goesOn(tick)) return;
    const { body } = owner;
    if (body.begun === body.count) {
      if (openOf(body) > 0) return;
      emit(tick, { kind: 'step_completed', path, attempt: 0, output: scatterOutput(body) });
      tick.ended.push(path);
      return;
    }
    if (openOf(body) >= step.maxParallel || !mayBegin(tick, owner)) return;
    beginNext(tick, owner, step);
  }
}

/** Ends a step whose body has ended for those who were chosen. */
function endSelect(tick: Tick, { path, body }: Owner, { mode }: Select): void {
  const { source } = body;
  if (source.kind !== 'value') impossible('select-source', `step ${path} keeps what it chose nowhere`);
  const output = tryPlan(() => selectOutput(source.value, body, mode, path));
  if (!output.ok) return endOwner(tick, path, ownFailure(path, output.error));
  emit(tick, { kind: 'step_completed', path, attempt: 0, output: output.value });
  tick.ended.push(path);
}

function goOnSelect(tick: Tick, path: string, step: Select, run: { readonly body: PlanBody }): void {
  const most = step.mode === 'each' ? step.maxParallel : 1;
  for (;;) {
    const owner = ownerAt(tick, path);
    if (owner === undefined || !goesOn(tick)) return;
    const { body } = owner;
    const isDone = body.begun === body.count || (step.mode === 'ranked' && body.completed > 0);
    if (isDone) {
      if (openOf(body) === 0) endSelect(tick, owner, step);
      return;
    }
    if (openOf(body) >= most || !mayBegin(tick, owner)) return;
    beginNext(tick, owner, run);
  }
}

function goOnLoop(tick: Tick, owner: Owner, step: PlanStep & { readonly type: 'LOOP' }): void {
  const { path, body } = owner;
  if (openOf(body) > 0) return;
  if (body.begun < body.count) {
    if (mayBegin(tick, owner)) beginNext(tick, owner, step);
    return;
  }
  const message = `step ${path} has not met its condition in ${body.count} iterations`;
  endOwner(tick, path, ownFailure(path, new DuctorError('limit_exceeded', message)));
}

/** Lets a step that runs a body go on: more of it begins, or the step ends. */
export function goOnBody(tick: Tick, path: string): void {
  const owner = ownerAt(tick, path);
  if (owner === undefined) return;
  if (owner.status === 'OPEN' && scopeGoesOn(tick, scopeOfPath(path))) {
    const step = planStepAt(tick, path);
    if (step.type === 'SCATTER') goOnScatter(tick, path, step);
    if (step.type === 'LOOP') goOnLoop(tick, owner, step);
    if (step.type === 'SELECT' && step.body !== undefined) goOnSelect(tick, path, step, { body: step.body });
    return;
  }
  if (openOf(owner.body) === 0) endOwner(tick, path, owner.status === 'CLOSING' ? owner.error : null);
}

/** What a scope that ran to its end came to. */
interface Ending {
  /** null: nobody will read it. */
  readonly output: ValueSource | null;
  /** A loop is done with that. */
  readonly isLast: boolean;
}

function endingOf(tick: Tick, scope: string, step: PlanStep): Ending {
  const place = placeAt(tick, scope);
  if (step.type === 'LOOP') {
    const isLast = step.until(place.expressions);
    return { output: bodyOutput(tick, place, `the output of ${scope}`), isLast };
  }
  const isRead = step.type === 'SELECT' || (step.type === 'SCATTER' && step.keeps);
  return { output: isRead ? bodyOutput(tick, place, `the output of ${scope}`) : null, isLast: false };
}

/** The item or iteration failed: so does a loop, and a scatter with too many of them. */
function scopeFailed(tick: Tick, scope: string, error: RunFailure): void {
  const [path, index] = [ownerOfScope(scope), indexOfScope(scope)];
  emit(tick, { kind: 'body_failed', path, index, error });
  const owner = ownerAt(tick, path);
  if (owner?.status !== 'OPEN') return;
  const step = planStepAt(tick, path);
  if (step.type === 'LOOP') return closeOwner(tick, owner, error);
  if (step.type === 'SELECT') return selectFailed(tick, owner, step, { error, index });
  const tolerated = step.type === 'SCATTER' ? step.tolerated(owner.body.count) : 0;
  if (owner.body.failed > tolerated) closeOwner(tick, owner, tooMany(owner, error, index, tolerated));
}

/** The body failed for a recipient: the next in order is tried, or it is one too many. */
function selectFailed(tick: Tick, owner: Owner, step: Select, { error, index }: Failed): void {
  const { body } = owner;
  if (step.mode === 'slate') return closeOwner(tick, owner, error);
  if (step.mode === 'ranked') {
    if (body.failed < body.count) return;
    const message = `the body failed for all ${body.count} recipients; for the last: ${error.message}`;
    return closeOwner(tick, owner, { ...error, message });
  }
  const tolerated = step.tolerated(body.count);
  if (body.failed > tolerated) closeOwner(tick, owner, tooMany(owner, error, index, tolerated));
}

function scopeCompleted(tick: Tick, scope: string): void {
  const [path, index] = [ownerOfScope(scope), indexOfScope(scope)];
  const ending = tryPlan(() => endingOf(tick, scope, planStepAt(tick, path)));
  if (!ending.ok) return scopeFailed(tick, scope, ownFailure(scope, ending.error));
  const { output, isLast } = ending.value;
  emit(tick, { kind: 'body_completed', path, index, output });
  if (!isLast) return;
  emit(tick, { kind: 'step_collected', path, of: path, failed: 'null', isTyped: false });
  tick.ended.push(path);
}

/** Ends a scope when none of its steps is under way. */
export function endScope(tick: Tick, name: string): void {
  const scope = tick.draft.steps.scope(name);
  if (scope === undefined || scope.members.some((path) => isUnderWay(tick, path))) return;
  const path = ownerOfScope(name);
  if (scope.error !== null) scopeFailed(tick, name, scope.error);
  else if (scopeGoesOn(tick, name)) scopeCompleted(tick, name);
  else emit(tick, { kind: 'body_cancelled', path, index: indexOfScope(name) });
  tick.owners.add(path);
}
