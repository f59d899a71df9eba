/** RetryRun: of a parked run in place, of one that has ended by a new run that keeps what ended well. */
import { canonicalDigest, DuctorError } from '../../../kernel/index.js';
import { RunServiceService as R, type RetryRunRequest, type RetryRunResponse } from '../../../gen/ductor/v1/run.js';
import { actorText, deedOf } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import {
  isClosed,
  planFork,
  runKeyAsStartKey,
  type Coordinator,
  type RunReader,
  type RunState,
  type StartOutcome,
} from '../ports.js';
import type { Deed } from '../../../tenancy/index.js';
import { checkFrom, planOfFork, wholeSteps, type Forks } from './fork-run.js';
import { lastRun, missingRun, showRun } from './read-runs.js';

/** What it needs. */
export interface Retries extends Omit<Forks, 'reader' | 'coordinator'> {
  readonly reader: Pick<RunReader, 'payloads' | 'lastOfChain'>;
  readonly coordinator: Pick<Coordinator, 'start' | 'retry'>;
}

const MAX_REASON_CHARS = 4_096;

function check({ runId, from, idempotencyKey, reason }: RetryRunRequest): void {
  const checks = new FieldChecks();
  checks.uuid('run_id', runId);
  checks.text('from', from, MAX_IDENTIFIER_CHARS);
  checks.text('idempotency_key', idempotencyKey, MAX_IDENTIFIER_CHARS);
  checks.text('reason', reason, MAX_REASON_CHARS);
  checks.done();
}

function refuse(path: string, value: string, problem: string, remedy: string): void {
  const checks = new FieldChecks();
  checks.note(path, value, problem, remedy);
  checks.done();
}

/** Throws run_not_parked, and invalid_argument for a step that did not park the run. */
function checkParked({ runId, status, parked }: RunState, { from, idempotencyKey }: RetryRunRequest): void {
  if (parked === null) throw new DuctorError('run_not_parked', `run ${runId} is ${status}, not parked`);
  if (from !== '' && from !== parked.step) {
    refuse('from', from, 'did not park the run', 'leave it out, or fork the run from that step');
  }
  if (idempotencyKey === '') return;
  refuse('idempotency_key', idempotencyKey, 'is for runs that have ended', 'leave it out: a second retry does nothing');
}

/** Throws invalid_argument when nothing says what of a closed run is to be tried again, or there are two keys. */
function checkClosed({ status, runKey }: RunState, { from, idempotencyKey }: RetryRunRequest): void {
  if (status === 'COMPLETED' && from === '') {
    refuse('from', '', 'is missing, and the run completed', 'name the step that is to run again');
  }
  if (runKey === undefined || idempotencyKey === '') return;
  const problem = `stands beside the run key ${runKey} of the run`;
  refuse('idempotency_key', idempotencyKey, problem, 'leave it out: one run is open with a run key');
}

/**
 * Starts a run that does again what of a closed one has not ended well, or what follows from a step.
 *
 * @throws DuctorError invalid_argument, idempotency_conflict, run_key_taken, and what a start throws
 */
async function tryAnew(parts: Retries, state: RunState, request: RetryRunRequest, by: Deed): Promise<StartOutcome> {
  checkClosed(state, request);
  const { tenantId, runId, familySlug, version, input, attributes, runKey } = state;
  const { from, idempotencyKey } = request;
  const plan = await planOfFork(parts, state, version);
  if (from !== '') checkFrom(plan, from);
  const { kept: refs } = planFork(plan, state, from === '' ? null : from);
  const kept = await wholeSteps(parts, state, refs);
  const fingerprint = canonicalDigest({ retry: runId, from });
  const own = idempotencyKey === '' ? null : { key: idempotencyKey, fingerprint };
  const outcome = await parts.coordinator.start({
    ...{ tenantId, familySlug, version, input, attributes, by, fork: { runId, from, kept } },
    ...(runKey === undefined ? {} : { runKey, onOpen: 'refuse' }),
    startKey: runKey === undefined ? own : runKeyAsStartKey(runKey),
  });
  if (!outcome.existing) parts.starts.add({ tenantId, runId: outcome.runId });
  return outcome;
}

/** RetryRun. Of a chain its last run is meant. */
export function retryRun(parts: Retries): Unary<RetryRunRequest, RetryRunResponse> {
  return async (request, principal) => {
    check(request);
    const { tenantId } = principal;
    const state = await lastRun(parts, { tenantId, runId: request.runId });
    if (state === undefined) throw missingRun(request.runId);
    const { runId } = state;
    const deed = deedOf(principal, R.retryRun.path, request.reason);
    if (isClosed(state)) {
      const outcome = await tryAnew(parts, state, request, deed);
      const data = await showRun(parts, { tenantId, runId: outcome.runId });
      return { data, started: !outcome.existing };
    }
    checkParked(state, request);
    await parts.coordinator.retry({ tenantId, runId }, actorText(principal), deed);
    return { data: await showRun(parts, { tenantId, runId }), started: false };
  };
}
