/** What an engine of the simulation needs of its invoker, whichever it is. */
import type { Coordinator } from '../../../engine/src/workflow/coordinator/coordinator.js';
import type { AttemptRef, Invoker } from '../../../engine/src/workflow/coordinator/ports.js';
import type { Connection, EngineEnd } from '../cast/connection.js';

/** An invoker and the worker streams under it. */
export interface EngineInvoker extends Invoker, EngineEnd {
  /** Attempts that wait for a worker. */
  readonly queued: number;
  /** Streams of workers. */
  readonly streams: readonly Connection[];
  /** Whether an attempt waits here, or is on its way to a worker. */
  has(ref: AttemptRef): boolean;
  /** Says who the coordinator is; before that nothing happens. */
  attach(coordinator: Coordinator): void;
  /** The engine was told to stop: nothing more is handed out. */
  drain(): void;
}
