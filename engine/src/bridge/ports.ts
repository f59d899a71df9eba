/** What the bridge needs from the rooms below it, and the types it shares with them. */
import type { Coordinator } from '../workflow/coordinator/coordinator.js';
import type { Definition } from '../workflow/definition/definition.js';

export type { ResultAck } from '../workflow/coordinator/coordinator.js';
export type { AbortOrder, AttemptRef, Invoker, Task } from '../workflow/coordinator/ports.js';
export type { Definition, EdgeDefinition, Json, StepDefinition } from '../workflow/definition/definition.js';
export type { AttemptOutcome } from '../workflow/machine/inputs.js';
export type { Value } from '../workflow/machine/value.js';

/** The part of the coordinator that the bridge talks to. */
export type BridgeCoordinator = Pick<
  Coordinator,
  'settle' | 'sent' | 'workerConnected' | 'workerGone' | 'liveAddresses'
>;

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
export type RegisterDefinition = (tenantId: string, definition: Definition) => Promise<Registered>;
