/** Names of runs and attempts in the books of the checks. */
import type { AttemptRef, RunKey } from '../../../engine/src/workflow/coordinator/ports.js';
import type { Signal } from '../../../engine/src/workflow/machine/index.js';

/** Name of a run. */
export function runName(run: RunKey): string {
  return `${run.tenantId}/${run.runId}`;
}

/** Name of an attempt. */
export function attemptName(ref: AttemptRef): string {
  return `${ref.tenantId}/${ref.runId}/${ref.path}#${ref.attempt}`;
}

/**
 * Name of a signal to a run.
 *
 * @param chainId of its chain: a run that continues the one it was sent to may hear it
 */
export function signalName(tenantId: string, chainId: string, { name, id }: Pick<Signal, 'name' | 'id'>): string {
  return `${tenantId}/${chainId}/${name}#${id}`;
}

/** The attempt alone. */
export function plainRef({ tenantId, runId, path, attempt }: AttemptRef): AttemptRef {
  return { tenantId, runId, path, attempt };
}

/** Last digits of a run id and the attempt, for the trace. */
export function shortRef(ref: AttemptRef): string {
  return `${ref.runId.slice(-6)}/${ref.path}#${ref.attempt}`;
}
