/** Runs as the contract shows them. */
import type { Failure } from '../../../gen/ductor/v1/common.js';
import { StepState as WireStepState, type BodyRun, type Run, type StepRun } from '../../../gen/ductor/v1/run.js';
import {
  explainStep,
  runOutput,
  type BodyState,
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
export function failureOf({ code, message, step, attempt, retryable, stack, causes = [] }: RunFailure): Failure {
  return { code, message, step, attempt, retryable, stack, causes: causes.map((cause) => ({ ...cause })) };
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
    body: step?.body ? bodyRunOf(step.body) : undefined,
    childRunId: step?.child?.runId ?? '',
  };
}

function bodyRunOf({ count, begun, completed, failed, stopped }: BodyState): BodyRun {
  return { count, begun, completed, failed, stopped };
}

/** Steps of bodies that one answer names, in order of their beginning; how many there are say the counts. */
const MAX_BODY_STEPS = 200;

/** Paths of steps to show: those of the plan in its order, and behind each the ones its body has under way. */
function pathsOf(state: RunState, plan: Plan | undefined): readonly string[] {
  const inBodies = [...state.steps.scopes.values()].flatMap(({ members }) => members).slice(0, MAX_BODY_STEPS);
  const top = plan?.steps.map(({ ref }) => ref) ?? [...state.steps.keys()].filter((path) => !path.includes('['));
  return top.flatMap((ref) => [ref, ...inBodies.filter((path) => path.startsWith(`${ref}[`))]);
}

/**
 * A run with its steps: those of the plan in its order, reached or not.
 *
 * @param plan undefined when it cannot be loaded; then the steps that were reached are shown, in order of arrival
 */
export function runOf(state: RunState, plan: Plan | undefined): Run {
  const paths = pathsOf(state, plan);
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
    rootRunId: state.family?.rootId ?? '',
    parentRunId: state.family?.parentId ?? '',
    parentStep: state.family?.parentPath ?? '',
    continuedAs: state.continuedAs ?? '',
    chainId: state.chain?.chainId ?? '',
    continuesRunId: state.chain?.previousId ?? '',
    runKey: state.runKey ?? '',
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
    rootRunId: header.rootId ?? '',
    parentRunId: header.parentId ?? '',
    runKey: '',
    parentStep: '',
    continuedAs: '',
    chainId: header.chain?.chainId ?? '',
    continuesRunId: '',
  };
}
