/** RetryRun: of a parked run in place, of one that has ended by a new run that keeps what ended well. */
import { canonicalDigest, DuctorError } from '../../../kernel/index.js';
import { RunServiceService as R, type RetryRunRequest, type RetryRunResponse } from '../../../gen/ductor/v1/run.js';
import { actorText, deedOf } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS, MAX_REASON_CHARS } from '../checks/field-checks.js';
import {
  isClosed,
  OWN_KEYS,
  planFork,
  runKeyAsStartKey,
  type Coordinator,
  type RunKey,
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

/** From which step, empty: what has not ended well; and by which key. */
type Asked = Pick<RetryRunRequest, 'from' | 'idempotencyKey'>;

function check({ runId, from, idempotencyKey, reason }: RetryRunRequest): void {
  const checks = new FieldChecks();
  checks.uuid('run_id', runId);
  checks.text('from', from, MAX_IDENTIFIER_CHARS);
  checks.text('idempotency_key', idempotencyKey, MAX_IDENTIFIER_CHARS);
  if (idempotencyKey.startsWith(OWN_KEYS)) {
    checks.note('idempotency_key', idempotencyKey, `begins with ${OWN_KEYS}`, 'begin it with something else');
  }
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
function checkClosed({ status, runKey }: RunState, { from, idempotencyKey }: Asked): void {
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
async function tryAnew(parts: Retries, state: RunState, asked: Asked, by: Deed): Promise<StartOutcome> {
  const { tenantId, runId, familySlug, version, input, attributes, runKey } = state;
  const { from, idempotencyKey } = asked;
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

/**
 * Tries a run that has ended again by a new one, once: it has a key of the engine's own, kept for 30 days. Of a chain
 * its last run is meant.
 *
 * @returns false when it was tried again so before
 * @throws DuctorError not_found, what a start throws, and invalid_argument for a run with a run key: that takes the
 *   place of any other key, and is free again once the new run has ended
 */
export async function tryAgainOnce(parts: Retries, key: RunKey, by: Deed): Promise<boolean> {
  const state = await lastRun(parts, key);
  if (state === undefined) throw missingRun(key.runId);
  const { runId, runKey } = state;
  if (runKey !== undefined) {
    const problem = `run ${runId} has the run key ${runKey}, so a batch could retry it twice`;
    throw new DuctorError('invalid_argument', problem, {
      remedy: `Retry it by itself: \`ductor run retry ${runId}\`.`,
    });
  }
  const { existing } = await tryAnew(parts, state, { from: '', idempotencyKey: `${OWN_KEYS}retry/${runId}` }, by);
  return !existing;
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
      checkClosed(state, request);
      const outcome = await tryAnew(parts, state, request, deed);
      const data = await showRun(parts, { tenantId, runId: outcome.runId });
      return { data, started: !outcome.existing };
    }
    checkParked(state, request);
    await parts.coordinator.retry({ tenantId, runId }, actorText(principal), deed);
    return { data: await showRun(parts, { tenantId, runId }), started: false };
  };
}
