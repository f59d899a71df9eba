/** The coordinator: the serial writer of run state on a node, and the ports it needs. */
export type { Coordinator, ResultAck, RunChange, StartOutcome, StartRequest } from './coordinator.js';
export { createCoordinator, type CoordinatorParts } from './create-coordinator.js';
export type { CoordinatorHooks } from './hooks.js';
export type { CoordinatorOptions } from './options.js';
export type {
  AbortOrder,
  AttemptRef,
  Bus,
  BusTopic,
  ClusterStore,
  Invoker,
  PayloadKey,
  PlanSource,
  RunHeader,
  RunKey,
  StoredPayload,
  StoredRun,
  StartKey,
  Task,
} from './ports.js';
export { OWN_KEYS, runKeyAsStartKey } from './ports.js';
