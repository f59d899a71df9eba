/** A worker process as this node knows it: by the id it chose, within its tenant. */
import type { Timer } from '../../kernel/index.js';
import type { Session } from './session.js';

/** One worker; crew.ts alone changes it. */
export interface Worker {
  /** Names it to the coordinator and in the journal. */
  readonly name: string;
  readonly sessions: Set<Session>;
  /** Tasks went down with a session: the coordinator must hear of an absence before the next inventory. */
  mustProve: boolean;
  /** Runs while it has no session. */
  forgetting: Timer | null;
}

/** The name of a worker: the id was chosen by the worker, so that it counts only within the tenant of its key. */
export function workerName(tenantId: string, workerId: string): string {
  return `${tenantId}/${workerId}`;
}
