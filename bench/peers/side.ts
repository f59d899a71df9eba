/** What a process of the bench can do with one engine: be its worker, be its client, or both. */
import type { Kind } from './kinds.js';

/**
 * How a client starts runs. `direct`: the engine's fastest way. `queue`: from a process that runs no steps; where an
 * engine is a library, through its queue. `later`: as `queue`, and the runs do not begin, so that only starts are
 * measured.
 */
export type Via = 'direct' | 'queue' | 'later';

/** One engine, seen from an app. */
export interface Side {
  /** Makes the schema, where the app does that. */
  prepare(): Promise<void>;
  /** Becomes a worker of so many slots, where the engine knows such a limit. Resolves when work can come. */
  work(slots: number): Promise<void>;
  /** Becomes a client. */
  open(via: Via): Promise<void>;
  /** Starts a run and waits for its result. */
  run(kind: Kind, n: number): Promise<void>;
  /** Starts a run; resolves when the start is durable. */
  start(kind: Kind, n: number): Promise<void>;
  /** Runs that have completed, as the engine tells it. */
  finished(): Promise<number>;
  close(): Promise<void>;
}
