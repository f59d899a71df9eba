/** How a process looks at queues of pools. */
import type { Line } from './line.js';

/** See above. Rejects with database_unavailable when nobody knows what happened. */
export interface QueuePort {
  look(): Promise<void>;
}

/** The port over a line. */
export function simQueuePort(line: Line): QueuePort {
  return { look: () => line.ask('look at queues', () => line.server.lookAtQueues()) };
}
