/** How a process does something to claim items: calls of clients that it passes on, and its looks at what is due. */
import type { ClaimCall, ClaimResult, ClaimWorld } from '../../../engine/src/routing/index.js';
import type { Line } from './line.js';

/** See above. Both reject with database_unavailable when nobody knows what happened. */
export interface ClaimPort {
  /** @param early what it is decided by, where that is not what is read under the locks: for planted bugs */
  act(calls: readonly ClaimCall[], early?: ClaimWorld): Promise<readonly ClaimResult[]>;
  look(): Promise<void>;
}

/** The port over a line. */
export function simClaimPort(line: Line): ClaimPort {
  const { server } = line;
  return {
    act: (calls, early) => line.ask(`${calls.length} calls about claims`, () => server.claim(calls, early)),
    look: () => line.ask('look at claims', () => server.lookAtClaims()),
  };
}
