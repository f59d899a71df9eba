/** A run state in the making: entries are applied to it one by one, then it becomes the next RunState. */
import { impossible, type Writable } from '../../kernel/index.js';
import type { RunFailure, RunState, RunStatus } from './state.js';
import { EMPTY_BOX, type SignalBox } from './signal-box.js';
import { EMPTY_STEPS, editSteps, type StepEdit } from './step-table.js';
import { NULL_VALUE, type Value, type ValueSource } from './value.js';

/** Mutable twin of RunState; made by openDraft, changed by applyEntry alone. */
export interface Draft {
  readonly before: RunState;
  /** Time of the row that is being applied, microseconds since 1970. */
  readonly atUs: number;
  started: boolean;
  /** Final status once the run is closed. */
  closed: RunStatus | null;
  familySlug: string;
  version: number;
  startedAtUs: number;
  closedAtUs: number | null;
  input: Value;
  attributes: Readonly<Record<string, string>>;
  output: ValueSource | null;
  error: RunFailure | null;
  cancel: RunState['cancel'];
  parked: RunState['parked'];
  paused: RunState['paused'];
  heldSinceUs: number | null;
  ending: RunState['ending'];
  continuing: RunState['continuing'];
  continuedAs: string | null;
  compensating: RunState['compensating'];
  deadlineUs: number | null;
  traceparent: string | undefined;
  runKey: string | undefined;
  family: RunState['family'];
  chain: RunState['chain'];
  gate: RunState['gate'];
  /** run_terminated stands in this row: the row closes the run. */
  terminated: boolean;
  signals: SignalBox;
  readonly steps: StepEdit;
}

/** The state of a run before its first row. */
export function emptyRun(key: { readonly tenantId: string; readonly runId: string }): RunState {
  return {
    tenantId: key.tenantId,
    runId: key.runId,
    familySlug: '',
    version: 0,
    status: 'PENDING',
    seq: 0,
    atUs: 0,
    startedAtUs: 0,
    closedAtUs: null,
    input: NULL_VALUE,
    attributes: {},
    output: null,
    error: null,
    cancel: null,
    parked: null,
    paused: null,
    heldSinceUs: null,
    ending: null,
    continuing: null,
    continuedAs: null,
    compensating: null,
    deadlineUs: null,
    family: null,
    chain: null,
    gate: null,
    steps: EMPTY_STEPS,
  };
}

/** Begins the next state of a run. Throws internal when the row is older than the state. */
export function openDraft(before: RunState, atUs: number): Draft {
  if (atUs < before.atUs) impossible('journal-time', `row at ${atUs} after ${before.atUs} of run ${before.runId}`);
  return {
    before,
    atUs,
    started: before.status !== 'PENDING',
    closed: before.closedAtUs === null ? null : before.status,
    familySlug: before.familySlug,
    version: before.version,
    startedAtUs: before.startedAtUs,
    closedAtUs: before.closedAtUs,
    input: before.input,
    attributes: before.attributes,
    output: before.output,
    error: before.error,
    cancel: before.cancel,
    parked: before.parked,
    paused: before.paused,
    heldSinceUs: before.heldSinceUs,
    ending: before.ending,
    continuing: before.continuing,
    continuedAs: before.continuedAs,
    compensating: before.compensating,
    deadlineUs: before.deadlineUs,
    traceparent: before.traceparent,
    runKey: before.runKey,
    family: before.family,
    chain: before.chain,
    gate: before.gate,
    terminated: false,
    signals: before.signals ?? EMPTY_BOX,
    steps: editSteps(before.steps),
  };
}

/** Whether the run is parked or paused: facts are recorded, nothing follows from them. */
export function isHeld(draft: Pick<Draft, 'parked' | 'paused'>): boolean {
  return draft.parked !== null || draft.paused !== null;
}

/** Whether how the run ends is decided: it was asked to, it is failing, a step completed it, or its time is over. */
export function isEndDecided(draft: Pick<Draft, 'cancel' | 'error' | 'ending'>): boolean {
  return draft.cancel !== null || draft.error !== null || draft.ending !== null;
}

/**
 * Whether nobody will look after the run any more: it was asked to end, or its time is over. It must not be parked: no
 * cancel could end that.
 */
export function isGivenUp(run: Pick<RunState, 'cancel' | 'ending'>): boolean {
  return run.cancel !== null || run.ending !== null;
}

/** Whether steps that are open try again: how the run ends is not decided, or it is being compensated. */
export function triesAgain(draft: Pick<Draft, 'cancel' | 'error' | 'ending' | 'compensating'>): boolean {
  return !isEndDecided(draft) || draft.compensating !== null;
}

/** Public state that follows from what a run holds. */
function statusOf(draft: Draft): RunStatus {
  if (draft.closed !== null) return draft.closed;
  if (!draft.started) return 'PENDING';
  if (draft.parked !== null) return 'PARKED';
  if (draft.cancel !== null) return 'CANCELLING';
  if (draft.paused !== null) return 'PAUSED';
  const { gate, steps } = draft;
  if (gate !== null && (gate.state !== 'held' || gate.startAtUs !== null)) return 'WAITING';
  return steps.active() === 0 && steps.waiting() > 0 ? 'WAITING' : 'RUNNING';
}

/** The state after row `seq`; the draft must not be used any more. */
export function finishDraft(draft: Draft, seq: number): RunState {
  const { traceparent, runKey, signals } = draft;
  const state: Writable<RunState> = {
    tenantId: draft.before.tenantId,
    runId: draft.before.runId,
    familySlug: draft.familySlug,
    version: draft.version,
    status: statusOf(draft),
    seq,
    atUs: draft.atUs,
    startedAtUs: draft.startedAtUs,
    closedAtUs: draft.closedAtUs,
    input: draft.input,
    attributes: draft.attributes,
    output: draft.output,
    error: draft.error,
    cancel: draft.cancel,
    parked: draft.parked,
    paused: draft.paused,
    heldSinceUs: draft.heldSinceUs,
    ending: draft.ending,
    continuing: draft.continuing,
    continuedAs: draft.continuedAs,
    compensating: draft.compensating,
    deadlineUs: draft.deadlineUs,
    family: draft.family,
    chain: draft.chain,
    gate: draft.gate,
    steps: draft.steps.done(),
  };
  // Assigned: once a tick, and objects spread together are slow.
  if (signals !== EMPTY_BOX) state.signals = signals;
  if (traceparent !== undefined) state.traceparent = traceparent;
  if (runKey !== undefined) state.runKey = runKey;
  return state;
}
