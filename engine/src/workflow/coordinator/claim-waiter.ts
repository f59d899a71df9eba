/** How a claim item names the step that waits for it. */
import type { ClaimUntil } from '../machine/claim-until.js';

/** A step that waits for an item. */
export interface WaitingStep {
  readonly runId: string;
  readonly until: ClaimUntil;
  readonly path: string;
}

/** The step as the waiter of an item. */
export function waiterOf(runId: string, until: ClaimUntil, path: string): string {
  return `${runId}/${until}/${path}`;
}

/** The step that a waiter names; undefined: it names none. */
export function waitingStep(waiter: string): WaitingStep | undefined {
  const [runId = '', until = '', ...path] = waiter.split('/');
  if (path.length === 0 || (until !== 'claimed' && until !== 'completed')) return undefined;
  return { runId, until, path: path.join('/') };
}
