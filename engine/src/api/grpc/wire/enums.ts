/** States and types by name and number. A state that the contract lacks does not compile. */
import { RunState as WireRunState, StepState as WireStepState } from '../../../gen/ductor/v1/run.js';
import { EdgeType, StepType } from '../../../gen/ductor/v1/workflow.js';
import type { RunStatus, StepStatus } from '../ports.js';

/** Public states of runs. */
export const RUN_STATES: Readonly<Record<RunStatus, WireRunState>> = {
  PENDING: WireRunState.RUN_STATE_PENDING,
  RUNNING: WireRunState.RUN_STATE_RUNNING,
  WAITING: WireRunState.RUN_STATE_WAITING,
  PAUSED: WireRunState.RUN_STATE_PAUSED,
  PARKED: WireRunState.RUN_STATE_PARKED,
  CANCELLING: WireRunState.RUN_STATE_CANCELLING,
  COMPLETED: WireRunState.RUN_STATE_COMPLETED,
  FAILED: WireRunState.RUN_STATE_FAILED,
  CANCELLED: WireRunState.RUN_STATE_CANCELLED,
  TIMED_OUT: WireRunState.RUN_STATE_TIMED_OUT,
  TERMINATED: WireRunState.RUN_STATE_TERMINATED,
  CONTINUED: WireRunState.RUN_STATE_CONTINUED,
};

/** States of steps that were reached. */
export const STEP_STATES: Readonly<Record<StepStatus, WireStepState>> = {
  SCHEDULED: WireStepState.STEP_STATE_SCHEDULED,
  RUNNING: WireStepState.STEP_STATE_RUNNING,
  BACKOFF: WireStepState.STEP_STATE_BACKOFF,
  WAITING: WireStepState.STEP_STATE_WAITING,
  CANCELLING: WireStepState.STEP_STATE_CANCELLING,
  OPEN: WireStepState.STEP_STATE_RUNNING,
  CLOSING: WireStepState.STEP_STATE_CANCELLING,
  COMPLETED: WireStepState.STEP_STATE_COMPLETED,
  FAILED: WireStepState.STEP_STATE_FAILED,
  SKIPPED: WireStepState.STEP_STATE_SKIPPED,
  CANCELLED: WireStepState.STEP_STATE_CANCELLED,
};

const isStatus = (name: string): name is RunStatus => Object.hasOwn(RUN_STATES, name);

/** The status of a wire state; undefined for numbers that are none. */
export function runStatusOf(state: WireRunState): RunStatus | undefined {
  return Object.keys(RUN_STATES)
    .filter(isStatus)
    .find((name) => RUN_STATES[name] === state);
}

/** The numbers of an enum of the contract by their names: whatever is added to it is here. */
function numbersOf<T extends number>(names: { readonly [name: string]: T | string }): ReadonlyMap<string, T> {
  return new Map(Object.entries(names).flatMap(([name, type]) => (typeof type === 'string' ? [] : [[name, type]])));
}

const STEP_TYPES = numbersOf<StepType>(StepType);
const EDGE_TYPES = numbersOf<EdgeType>(EdgeType);

/** Number of a step type by its name; UNSPECIFIED for a name this engine does not know. */
export function stepTypeOf(name: string): StepType {
  return STEP_TYPES.get(name) ?? StepType.STEP_TYPE_UNSPECIFIED;
}

/** Number of an edge type by its name; UNSPECIFIED for a name this engine does not know. */
export function edgeTypeOf(name: string): EdgeType {
  return EDGE_TYPES.get(name) ?? EdgeType.EDGE_TYPE_UNSPECIFIED;
}
