/** CancelRun, TerminateRun, PauseRun, ResumeRun: requests that go through the mailbox of the run. */
import {
  RunServiceService as R,
  type CancelRunRequest,
  type CancelRunResponse,
  type PauseRunRequest,
  type PauseRunResponse,
  type ResumeRunRequest,
  type ResumeRunResponse,
  type Run,
  type TerminateRunRequest,
  type TerminateRunResponse,
} from '../../../gen/ductor/v1/run.js';
import { actorText, deedOf } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks, MAX_REASON_CHARS } from '../checks/field-checks.js';
import type { Coordinator, PlanSource, RunKey } from '../ports.js';
import { showRun } from './read-runs.js';
import type { RunLoader } from './run-loader.js';

/** What they need. */
export interface RunControls {
  readonly load: RunLoader;
  readonly plans: PlanSource;
  readonly coordinator: Pick<Coordinator, 'cancel' | 'terminate' | 'pause' | 'resume' | 'retry'>;
}

/** Checks the request, hands it in, and answers the run as it is once the request is durable. */
async function handIn(
  controls: RunControls,
  tenantId: string,
  { runId, reason }: { readonly runId: string; readonly reason?: string },
  send: (key: RunKey) => Promise<void>,
): Promise<{ data: Run }> {
  const checks = new FieldChecks();
  checks.uuid('run_id', runId);
  if (reason !== undefined) checks.text('reason', reason, MAX_REASON_CHARS);
  checks.done();
  const key = { tenantId, runId };
  await send(key);
  return { data: await showRun(controls, key) };
}

/** CancelRun: running steps may still have to stop when it answers. */
export function cancelRun(controls: RunControls): Unary<CancelRunRequest, CancelRunResponse> {
  return (request, principal) => {
    const deed = deedOf(principal, R.cancelRun.path, request.reason);
    return handIn(controls, principal.tenantId, request, (key) =>
      controls.coordinator.cancel(key, request.reason, actorText(principal), deed),
    );
  };
}

/** TerminateRun. */
export function terminateRun(controls: RunControls): Unary<TerminateRunRequest, TerminateRunResponse> {
  return (request, principal) => {
    const deed = deedOf(principal, R.terminateRun.path, request.reason);
    return handIn(controls, principal.tenantId, request, (key) =>
      controls.coordinator.terminate(key, request.reason, actorText(principal), deed),
    );
  };
}

/** PauseRun: of a run that comes to its end it changes nothing. */
export function pauseRun(controls: RunControls): Unary<PauseRunRequest, PauseRunResponse> {
  return (request, principal) => {
    const deed = deedOf(principal, R.pauseRun.path, request.reason);
    return handIn(controls, principal.tenantId, request, (key) =>
      controls.coordinator.pause(key, request.reason, actorText(principal), deed),
    );
  };
}

/** ResumeRun: of a run that is not held it changes nothing. */
export function resumeRun(controls: RunControls): Unary<ResumeRunRequest, ResumeRunResponse> {
  return (request, principal) => {
    const deed = deedOf(principal, R.resumeRun.path);
    return handIn(controls, principal.tenantId, request, (key) =>
      controls.coordinator.resume(key, actorText(principal), deed),
    );
  };
}
