/** How a run's status is stored: two bytes instead of its name. Codes are never given another meaning. */
import { impossible } from '../../kernel/index.js';
import type { RunStatus } from '../machine/state.js';

const CODES: Readonly<Record<RunStatus, number>> = {
  PENDING: 1,
  RUNNING: 2,
  WAITING: 3,
  PAUSED: 4,
  PARKED: 5,
  CANCELLING: 6,
  COMPLETED: 7,
  FAILED: 8,
  CANCELLED: 9,
  TIMED_OUT: 10,
  TERMINATED: 11,
  CONTINUED: 12,
};

const STATUSES: ReadonlyMap<number, RunStatus> = new Map(
  Object.keys(CODES).flatMap((name): [number, RunStatus][] => (isStatus(name) ? [[CODES[name], name]] : [])),
);

/** Whether the text is a status. */
function isStatus(name: string): name is RunStatus {
  return Object.hasOwn(CODES, name);
}

/** The code of a status. */
export function statusCode(status: RunStatus): number {
  return CODES[status];
}

/** The status of a code. Throws internal when there is none: a newer engine wrote it. */
export function statusOf(code: number): RunStatus {
  return STATUSES.get(code) ?? impossible('run-status-code', `no run status has the code ${code}`);
}
