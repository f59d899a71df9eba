/**
 * The pure heart of the engine: facts in, entries and commands out. No clock, no dice, no I/O.
 *
 * A tick applies all its inputs first, each to the state the ones before it left, and lets steps end and begin after
 * the last one. So a cancel beats the successors of a result in the same tick, and a shell that caught a fault of the
 * plan can record the same inputs with a `park` behind them: nothing of the plan is evaluated then.
 *
 * 1. Every entry changes the state by the code that folds the journal, so M2 holds by construction.
 * 2. `entries` is empty exactly when every input was ignored; the state is then the very object given.
 * 3. A closed run ignores everything (M4); an input applied twice is ignored the second time (M1).
 * 4. A DuctorError of plan code fails the step or run; anything else propagates, and no state has changed.
 *
 * Measured (bench/machine-ticks.ts, Node 20, CPU time): a tick of three callbacks in a row with 300 B values costs 3.4
 * us, with the encoding of its row 8.5 us, about 115,000 ticks a second of one core; a tick of a run with 1,000 open
 * steps 20 us with encoding.
 */
import { impossible } from '../../kernel/index.js';
import { answerUpdate } from './answer-update.js';
import { applyCancel } from './cancel.js';
import { applyChildClosed, sayGoodbye } from './child.js';
import { applyClaimTold } from './claim-step.js';
import { closeWhenDone } from './close-run.js';
import { finishDraft, isEndDecided, isHeld } from './draft.js';
import { keptEntry } from './fork.js';
import { applyRunTurn, beginSteps } from './gate.js';
import type { Advance, Command, Disposition, MachineContext, RunInput } from './inputs.js';
import { applyPark, applyPause, applyResume, applyRetry } from './park.js';
import type { Plan } from './plan.js';
import { propagate } from './propagate.js';
import { isUnbegun } from './queries.js';
import { applyRouteTold } from './queued-step.js';
import { applyStepTurn } from './schedule.js';
import { applyLost, applyResult, applyRunning, applySilent } from './settle-attempt.js';
import { applySignal } from './signals.js';
import type { RunState } from './state.js';
import { applySubStep } from './sub-steps.js';
import { cancelWaiting } from './tell-to-stop.js';
import { applyTerminate } from './terminate.js';
import { emit, mayTryAgain, openTick, type Tick } from './tick.js';
import { storableUs } from './timestamp.js';
import { applyWake } from './wake.js';

function applyStart(tick: Tick, input: RunInput & { readonly kind: 'start' }): Disposition {
  if (tick.draft.started) return 'ignored';
  const { familySlug, version, timeoutMs } = tick.plan;
  const deadlineUs = timeoutMs === null ? null : storableUs(tick.nowUs + timeoutMs * 1000);
  const { attributes, traceparent, birth, runKey, fork } = input;
  const more = {
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(runKey === undefined ? {} : { runKey }),
    ...(birth === undefined ? {} : { family: birth.family }),
    ...(fork === undefined ? {} : { fork: { runId: fork.runId, from: fork.from } }),
  };
  emit(tick, { kind: 'run_started', familySlug, version, input: input.input, attributes, deadlineUs, ...more });
  if (birth !== undefined && isRefused(tick, input)) return 'applied';
  for (const step of fork?.kept ?? []) {
    emit(tick, keptEntry(step));
    tick.ended.push(step.path);
  }
  beginSteps(tick);
  return 'applied';
}

/** A child that cannot be, or whose input its version does not allow, fails in its first row: its parent hears it. */
function isRefused(tick: Tick, { input, refusal }: RunInput & { readonly kind: 'start' }): boolean {
  const [problem] = refusal === undefined ? tick.plan.checkInput(input) : [];
  const why =
    refusal ?? (problem === undefined ? undefined : { code: 'invalid_argument', message: `input: ${problem}` });
  if (why === undefined) return false;
  emit(tick, { kind: 'run_failing', error: { ...why, step: '', attempt: 0, retryable: false, stack: '' } });
  return true;
}

function apply(tick: Tick, input: RunInput): Disposition {
  switch (input.kind) {
    case 'start':
      return applyStart(tick, input);
    case 'sub_step':
      return applySubStep(tick, input);
    case 'child_closed':
      return applyChildClosed(tick, input);
    case 'claim_told':
      return applyClaimTold(tick, input);
    case 'route_told':
      return applyRouteTold(tick, input);
    case 'result':
      return applyResult(tick, input);
    case 'running':
      return applyRunning(tick, input);
    case 'lost':
      return applyLost(tick, input);
    case 'silent':
      return applySilent(tick, input);
    case 'semaphore':
      return input.path === '' ? applyRunTurn(tick, input) : applyStepTurn(tick, input);
    case 'wake':
      return applyWake(tick);
    case 'cancel':
      return applyCancel(tick, input);
    case 'park':
      return applyPark(tick, input);
    case 'pause':
      return applyPause(tick, input);
    case 'resume':
      return applyResume(tick, input);
    case 'retry':
      return applyRetry(tick, input);
    case 'terminate':
      return applyTerminate(tick, input);
    case 'signal':
      return applySignal(tick, input);
  }
}

/**
 * Applies the inputs in order. Signals come before a terminate that would close the run under them: whoever sent them
 * was told that the run will hear them.
 */
function applyAll(tick: Tick, inputs: readonly RunInput[]): readonly Disposition[] {
  if (!inputs.some(({ kind }) => kind === 'terminate')) return inputs.map((input) => apply(tick, input));
  const heard = inputs.map((input) => (input.kind === 'signal' ? apply(tick, input) : null));
  return inputs.map((input, index) => heard[index] ?? apply(tick, input));
}

/** Lets everything follow that follows from the inputs, until nothing is left to decide. */
function settle(tick: Tick): void {
  if (tick.draft.closed !== null || isHeld(tick.draft)) return;
  const { draft } = tick;
  // What came first may have decided its end.
  const isToBegin = !tick.rootsDue && isUnbegun(draft.before) && draft.gate === null && !isEndDecided(draft);
  if (isToBegin) beginSteps(tick);
  propagate(tick);
  if (!mayTryAgain(tick)) cancelWaiting(tick);
  closeWhenDone(tick);
}

/** Commands that still hold at the end of the tick: an attempt is dispatched once, and only while it is wanted. */
function lastingCommands(tick: Tick): readonly Command[] {
  const { draft, commands } = tick;
  if (commands.length === 0) return commands;
  const isStill = isHeld(draft) || draft.closed !== null;
  const dispatched = new Set<string>();
  return commands.filter((command) => {
    if (command.kind !== 'dispatch') return true;
    const step = draft.steps.get(command.path);
    if (isStill || step?.status !== 'SCHEDULED' || step.attempt !== command.attempt) return false;
    if (dispatched.has(command.path)) return false;
    dispatched.add(command.path);
    return true;
  });
}

function nothing(state: RunState, dispositions: readonly Disposition[]): Advance {
  return { state, entries: [], commands: [], messages: [], successor: null, dispositions };
}

/**
 * One tick of a run.
 *
 * @param plan the compiled version the run executes
 * @param state as the last tick left it; emptyRun before the first
 * @param inputs facts from outside, in order of arrival
 * @throws whatever plan code throws that is not a DuctorError; DuctorError internal for a state that cannot be
 */
export function advance(plan: Plan, state: RunState, inputs: readonly RunInput[], context: MachineContext): Advance {
  if (state.closedAtUs !== null) {
    return nothing(
      state,
      inputs.map(() => 'ignored'),
    );
  }
  if (state.seq > 0 && (state.version !== plan.version || state.familySlug !== plan.familySlug)) {
    const given = `${plan.familySlug} version ${plan.version}`;
    impossible(
      'plan-version',
      `run ${state.runId} executes ${state.familySlug} version ${state.version}, not ${given}`,
    );
  }
  const tick = openTick(plan, state, context, answerUpdate);
  const dispositions = applyAll(tick, inputs);
  if (tick.entries.length === 0 && !tick.rootsDue) return nothing(state, dispositions);
  settle(tick);
  if (tick.draft.closed !== null) sayGoodbye(tick);
  return {
    state: finishDraft(tick.draft, state.seq + 1),
    entries: tick.entries,
    commands: lastingCommands(tick),
    messages: tick.messages,
    successor: tick.successor,
    dispositions,
  };
}
