/** How a process resets the capacity of a tenant's pools. */
import type { Line } from './line.js';

/** See above. */
export interface CapacityPort {
  /**
   * Rejects with database_unavailable when nobody knows what happened.
   *
   * @param takesAll zeroes what is held, too: for planted bugs
   */
  reset(tenantId: string, takesAll?: boolean): Promise<void>;
}

/** The port over a line. */
export function simCapacityPort(line: Line): CapacityPort {
  const { server } = line;
  return { reset: (tenantId, takesAll) => line.ask('reset of capacity', () => server.reset(tenantId, takesAll)) };
}
