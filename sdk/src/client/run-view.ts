/** Runs as the client shows them: names instead of numbers, Dates instead of timestamps. */
import type { Failure } from '../gen/ductor/v1/common.js';
import { type Run, type RunExplanation, RunReason, RunState, type StepRun, StepState } from '../gen/ductor/v1/run.js';
import type { Timestamp } from '../gen/google/protobuf/timestamp.js';

/** Public state of a run. */
export type RunStateName =
  | 'PENDING'
  | 'RUNNING'
  | 'WAITING'
  | 'PAUSED'
  | 'PARKED'
  | 'CANCELLING'
  | 'COMPLETED'
  | 'FAILED'
  | 'CANCELLED'
  | 'TIMED_OUT'
  | 'TERMINATED'
  | 'CONTINUED';

/** A step of a run. */
export interface StepView {
  readonly path: string;
  /** PENDING, SCHEDULED, RUNNING, BACKOFF, WAITING, CANCELLING, COMPLETED, FAILED, SKIPPED or CANCELLED. */
  readonly state: string;
  /** Attempts made so far. */
  readonly attempt: number;
  readonly error: FailureView | undefined;
  /** What it waits for, in words; empty when it ended. */
  readonly waitingFor: string;
  readonly wakeAt: Date | undefined;
  /** Run that the step started; undefined when it started none. */
  readonly childRunId: string | undefined;
}

/** Why a step or run failed. */
export interface FailureView {
  readonly code: string;
  readonly message: string;
  readonly step: string;
  readonly attempt: number;
  /** Of the process in which it was thrown; mapped to its sources where that runs with source maps. */
  readonly stack: string;
  /** What is behind it, flat, an error before its own causes; at most 16. */
  readonly causes: readonly CauseView[];
}

/** An error behind a failure. */
export interface CauseView {
  /** Empty for what was no Error. */
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** Whose it is: 0 the failure's own, else the place of that error in the list, from 1. */
  readonly of: number;
  /** A member of an AggregateError, not its cause. */
  readonly isMember: boolean;
}

/** A run. */
export interface RunView {
  readonly id: string;
  readonly workflow: string;
  readonly version: number;
  readonly state: RunStateName;
  readonly input: unknown;
  readonly output: unknown;
  readonly error: FailureView | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  /** Empty in lists. */
  readonly steps: readonly StepView[];
  readonly startedAt: Date | undefined;
  readonly closedAt: Date | undefined;
  /** Set when a step of another run started it. */
  readonly parent: RunParentView | undefined;
  /** The run that continues this one; undefined unless it is CONTINUED, and in lists. */
  readonly continuedAs: string | undefined;
  /** Of a run that continues another one: the first run of the chain. */
  readonly chainId: string | undefined;
}

/** Who started a run. */
export interface RunParentView {
  /** The run at the top of the family. */
  readonly rootRunId: string;
  readonly runId: string;
  /** Path of its step; empty in lists. */
  readonly step: string;
}

/** The one reason an open run waits for. */
export interface RunExplanationView {
  readonly id: string;
  readonly state: RunStateName;
  /**
   * CLOSED, PARKED, PAUSED, STOPPING, NO_HANDLER (no worker serves it), NO_FREE_WORKER, RUNNING, RETRY_WAIT, TIMER,
   * SIGNAL, APPROVAL or CHILD.
   */
  readonly reason: string;
  /** In words. */
  readonly message: string;
  /** Step that is waited for; empty when the run as a whole is. */
  readonly step: string;
  readonly attempt: number;
  /** Worker that has the attempt, empty when none is known. */
  readonly worker: string;
  readonly queue: string;
  readonly handler: string;
  /** Code of what went wrong, if something did. */
  readonly code: string;
  readonly since: Date | undefined;
  /** When time ends it; undefined: not by itself. */
  readonly until: Date | undefined;
  /** Other steps that are under way. */
  readonly otherSteps: number;
}

const REASON_PREFIX = 'RUN_REASON_';
const RUN_STATE_PREFIX = 'RUN_STATE_';
const STEP_STATE_PREFIX = 'STEP_STATE_';
const RUN_STATES: ReadonlyMap<RunState, RunStateName> = new Map([
  [RunState.RUN_STATE_PENDING, 'PENDING'],
  [RunState.RUN_STATE_RUNNING, 'RUNNING'],
  [RunState.RUN_STATE_WAITING, 'WAITING'],
  [RunState.RUN_STATE_PAUSED, 'PAUSED'],
  [RunState.RUN_STATE_PARKED, 'PARKED'],
  [RunState.RUN_STATE_CANCELLING, 'CANCELLING'],
  [RunState.RUN_STATE_COMPLETED, 'COMPLETED'],
  [RunState.RUN_STATE_FAILED, 'FAILED'],
  [RunState.RUN_STATE_CANCELLED, 'CANCELLED'],
  [RunState.RUN_STATE_TIMED_OUT, 'TIMED_OUT'],
  [RunState.RUN_STATE_TERMINATED, 'TERMINATED'],
  [RunState.RUN_STATE_CONTINUED, 'CONTINUED'],
]);

/** Name of a state; one that a newer engine added reads as RUNNING. */
export function runStateName(state: RunState): RunStateName {
  return RUN_STATES.get(state) ?? 'RUNNING';
}

/** Whether a text names a state. */
export function isRunStateName(name: string): name is RunStateName {
  return [...RUN_STATES.values()].some((known) => known === name);
}

/** Number of a state on the wire. */
export function runStateNumber(name: RunStateName): RunState {
  return RunState[`${RUN_STATE_PREFIX}${name}`];
}

/** A run as the client shows it. */
export function runView(run: Run): RunView {
  return {
    id: run.id,
    workflow: run.familySlug,
    version: run.version,
    state: runStateName(run.state),
    input: run.input,
    output: run.output,
    error: failureView(run.error),
    attributes: run.attributes,
    steps: run.steps.map(stepView),
    startedAt: dateOf(run.startedAt),
    closedAt: dateOf(run.closedAt),
    parent:
      run.parentRunId === '' ? undefined : { rootRunId: run.rootRunId, runId: run.parentRunId, step: run.parentStep },
    continuedAs: run.continuedAs === '' ? undefined : run.continuedAs,
    chainId: run.chainId === '' ? undefined : run.chainId,
  };
}

/** An explanation as the client shows it. */
export function explanationView(found: RunExplanation): RunExplanationView {
  const { step, attempt, worker, queue, handler, code, message, otherSteps } = found;
  return {
    id: found.runId,
    state: runStateName(found.state),
    reason: (RunReason[found.reason] ?? 'RUN_REASON_UNKNOWN').slice(REASON_PREFIX.length),
    ...{ message, step, attempt, worker, queue, handler, code, otherSteps },
    since: dateOf(found.since),
    until: dateOf(found.until),
  };
}

/** A time on the wire. */
export function timestampOf(time: Date): Timestamp {
  const ms = time.getTime();
  const seconds = Math.floor(ms / 1000);
  return { seconds: BigInt(seconds), nanos: (ms - seconds * 1000) * 1_000_000 };
}

function stepView(step: StepRun): StepView {
  return {
    path: step.path,
    state: (StepState[step.state] ?? 'STEP_STATE_UNKNOWN').slice(STEP_STATE_PREFIX.length),
    attempt: step.attempt,
    error: failureView(step.error),
    waitingFor: step.waitingFor,
    wakeAt: dateOf(step.wakeAt),
    childRunId: step.childRunId === '' ? undefined : step.childRunId,
  };
}

/** A failure; undefined when there is none. */
export function failureView(failure: Failure | undefined): FailureView | undefined {
  if (failure === undefined) return undefined;
  const { code, message, step, attempt, stack } = failure;
  const causes = failure.causes.map(({ name, message: text, stack: at, of, isMember }) => {
    return { name, message: text, stack: at, of, isMember };
  });
  return { code, message, step, attempt, stack, causes };
}

/** A time of the wire. */
export function dateOf(timestamp: Timestamp | undefined): Date | undefined {
  return timestamp === undefined ? undefined : new Date(Number(timestamp.seconds) * 1000 + timestamp.nanos / 1e6);
}
