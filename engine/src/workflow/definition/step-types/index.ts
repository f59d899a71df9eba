/** The step types of this version, by name. */
import { CALLBACK } from './callback.js';
import { DATAFLOW } from './dataflow/dataflow.js';
import type { StepType } from './step-type.js';
import { WAIT } from './wait.js';

/** What this version can run. */
export const STEP_TYPES: ReadonlyMap<string, StepType> = new Map(
  [CALLBACK, DATAFLOW, WAIT].map((stepType) => [stepType.name, stepType]),
);

export type { PlanAction, StepOption, StepType } from './step-type.js';
