/** What the bridge needs from the rooms below it, and the types it shares with them. */
import type { Deed } from '../tenancy/index.js';
import type { Coordinator, Definition } from '../workflow/index.js';

export {
  HTTP_QUEUE,
  MAX_VALUE_BYTES,
  type AbortOrder,
  type AttemptOutcome,
  type AttemptRef,
  type ErrorCause,
  type Definition,
  type EdgeDefinition,
  type Invoker,
  type Json,
  type ResultAck,
  type RunKey,
  type StepDefinition,
  type SubStep,
  type Task,
  type Value,
} from '../workflow/index.js';

/** The part of the coordinator that the bridge talks to. */
export type BridgeCoordinator = Pick<
  Coordinator,
  'settle' | 'keep' | 'sent' | 'workerConnected' | 'workerGone' | 'recheck' | 'liveAddresses'
> &
  Partial<Pick<Coordinator, 'heartbeat' | 'workerAlive'>>;

/** What became of a registration. */
export interface Registered {
  /** Version of this content. */
  readonly version: number;
  /** The content was new and became the current version. */
  readonly isNew: boolean;
}

/**
 * Publishes a worker's definition unless its content is known. Throws invalid_definition (with details) and whatever
 * the database may.
 */
export type RegisterDefinition = (tenantId: string, definition: Definition, by: Deed) => Promise<Registered>;
