/** The step types of this version, by name. */
import { APPROVAL } from './approval.js';
import { CALLBACK } from './callback.js';
import { CLAIM } from './claim.js';
import { COMPLETE } from './complete.js';
import { CONTINUE_AS_NEW } from './continue-as-new.js';
import { DATAFLOW } from './dataflow/dataflow.js';
import { FAIL } from './fail.js';
import { GATHER } from './gather.js';
import { HTTP } from './http.js';
import { LOOP } from './loop.js';
import { ROUTE } from './route.js';
import { SCATTER } from './scatter.js';
import type { StepType } from './step-type.js';
import { SELECT } from './select.js';
import { SIGNAL } from './signal.js';
import { SUB_WORKFLOW } from './sub-workflow.js';
import { SWITCH } from './switch.js';
import { WAIT } from './wait.js';

/** What this version can run. */
export const STEP_TYPES: ReadonlyMap<string, StepType> = new Map(
  [
    CALLBACK,
    DATAFLOW,
    WAIT,
    SWITCH,
    FAIL,
    COMPLETE,
    SCATTER,
    GATHER,
    LOOP,
    SUB_WORKFLOW,
    SIGNAL,
    APPROVAL,
    CONTINUE_AS_NEW,
    HTTP,
    SELECT,
    ROUTE,
    CLAIM,
  ].map((stepType) => [stepType.name, stepType]),
);

export type { BodyKind, CompiledBody, PlanAction, StepOption, StepType } from './step-type.js';
export { gatheredOf } from './gather.js';
export { maxParallelOf } from './scatter.js';
export { selectParallelOf } from './select.js';
