/** CancelRun, TerminateRun, PauseRun, ResumeRun, RetryRun: requests that go through the mailbox of the run. */
import { DuctorError } from '../../../kernel/index.js';
import {
  RunServiceService as R,
  type CancelRunRequest,
  type CancelRunResponse,
  type PauseRunRequest,
  type PauseRunResponse,
  type ResumeRunRequest,
  type ResumeRunResponse,
  type RetryRunRequest,
  type RetryRunResponse,
  type Run,
  type TerminateRunRequest,
  type TerminateRunResponse,
} from '../../../gen/ductor/v1/run.js';
import { actorText, deedOf } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import { isClosed, type Coordinator, type PlanSource, type RunKey } from '../ports.js';
import { missingRun, showRun } from './read-runs.js';
import type { RunLoader } from './run-loader.js';

/** What they need. */
export interface RunControls {
  readonly load: RunLoader;
  readonly plans: PlanSource;
  readonly coordinator: Pick<Coordinator, 'cancel' | 'terminate' | 'pause' | 'resume' | 'retry'>;
}

const MAX_REASON_CHARS = 4_096;

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

/** Throws not_found, unimplemented for a run that has ended, run_not_parked for one that goes on. */
async function mustBeParked({ load }: RunControls, key: RunKey): Promise<void> {
  const state = await load(key);
  if (state === undefined) throw missingRun(key.runId);
  if (isClosed(state)) {
    const message = `run ${key.runId} has ended (${state.status}); this version retries parked runs only`;
    throw new DuctorError('unimplemented', message, { remedy: 'Trigger the workflow again with the same input.' });
  }
  if (state.parked !== null) return;
  throw new DuctorError('run_not_parked', `run ${key.runId} is ${state.status}, not parked`);
}

/** RetryRun: of a parked run. */
export function retryRun(controls: RunControls): Unary<RetryRunRequest, RetryRunResponse> {
  return (request, principal) =>
    handIn(controls, principal.tenantId, request, async (key) => {
      await mustBeParked(controls, key);
      await controls.coordinator.retry(key, actorText(principal), deedOf(principal, R.retryRun.path));
    });
}
