/** Runs as the contract shows them. */
import type { Failure } from '../../../gen/ductor/v1/common.js';
import { StepState as WireStepState, type Run, type StepRun } from '../../../gen/ductor/v1/run.js';
import {
  explainStep,
  runOutput,
  type Plan,
  type RunFailure,
  type RunHeader,
  type RunState,
  type StepState,
} from '../ports.js';
import { RUN_STATES, STEP_STATES } from './enums.js';
import { timestampOf } from './timestamp.js';
import { jsonOf } from './value.js';

/** A failure of a run or step. */
export function failureOf({ code, message, step, attempt, retryable, stack }: RunFailure): Failure {
  return { code, message, step, attempt, retryable, stack };
}

function stepRunOf(state: RunState, path: string, step: StepState | undefined): StepRun {
  const waitsForTime = step?.status === 'BACKOFF' || step?.status === 'WAITING';
  return {
    path,
    state: step === undefined ? WireStepState.STEP_STATE_PENDING : STEP_STATES[step.status],
    attempt: step?.attempt ?? 0,
    error: step?.error ? failureOf(step.error) : undefined,
    waitingFor: explainStep(state, step),
    wakeAt: waitsForTime && step.dueAtUs !== null ? timestampOf(step.dueAtUs) : undefined,
  };
}

/**
 * A run with its steps: those of the plan in its order, reached or not.
 *
 * @param plan undefined when it cannot be loaded; then the steps that were reached are shown, in order of arrival
 */
export function runOf(state: RunState, plan: Plan | undefined): Run {
  const paths = plan === undefined ? [...state.steps.keys()] : plan.steps.map(({ ref }) => ref);
  const output = runOutput(state);
  return {
    id: state.runId,
    familySlug: state.familySlug,
    version: state.version,
    state: RUN_STATES[state.status],
    input: jsonOf(state.input),
    output: output === null ? undefined : jsonOf(output),
    error: state.error === null ? undefined : failureOf(state.error),
    attributes: { ...state.attributes },
    steps: paths.map((path) => stepRunOf(state, path, state.steps.get(path))),
    startedAt: timestampOf(state.startedAtUs),
    closedAt: state.closedAtUs === null ? undefined : timestampOf(state.closedAtUs),
  };
}

/** A run as a list shows it: without steps and values. */
export function listedRunOf(header: RunHeader): Run {
  return {
    id: header.runId,
    familySlug: header.familySlug,
    version: header.version,
    state: RUN_STATES[header.status],
    input: undefined,
    output: undefined,
    error: undefined,
    attributes: { ...header.attributes },
    steps: [],
    startedAt: timestampOf(header.startedAtUs),
    closedAt: header.closedAtUs === null ? undefined : timestampOf(header.closedAtUs),
  };
}
