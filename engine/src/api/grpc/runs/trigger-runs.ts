/** TriggerRun, TriggerAndWait and TriggerRuns. */
import {
  RunServiceService,
  type TriggerAndWaitRequest,
  type TriggerAndWaitResponse,
  type TriggerOutcome,
  TriggerRunRequest,
  type TriggerRunResponse,
  type TriggerRunsRequest,
  type TriggerRunsResponse,
} from '../../../gen/ductor/v1/run.js';
import type { Clock } from '../../../kernel/index.js';
import { normalTraceparent, type Tracing } from '../../../telemetry/index.js';
import { deedOf, leavesRow, type AuditTrail } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import type { Report } from '../errors/report.js';
import { retryAfterText, wireFailure, wireProblems } from '../errors/wire-error.js';
import type { RunKey, RunReader, StartOutcome } from '../ports.js';
import { lastRun, showRun, type RunReads } from './read-runs.js';
import type { RunFeed } from './run-feed.js';
import type { RecentStarts } from './recent-starts.js';
import { startRun, type Cause, type Starter } from './start-run.js';
import { waitMsOf } from './wait-time.js';

/** What they need. */
export interface Triggers extends Starter, Pick<RunReads, 'load' | 'plans'> {
  readonly starts: RecentStarts;
  readonly report: Report;
  readonly trail: AuditTrail;
  /** null: nobody traces. */
  readonly tracing: Tracing | null;
}

/** Starts of one batch. */
export const MAX_ITEMS = 1_000;
const { triggerRun: ONE, triggerAndWait: WAITING, triggerRuns: MANY } = RunServiceService;

/** Starts the run inside a span of its own, where somebody traces; the run's trace goes on from there. */
async function tracedStart(
  triggers: Triggers,
  tenantId: string,
  request: TriggerRunRequest,
  cause: Cause,
): Promise<StartOutcome> {
  const parent = normalTraceparent(request.traceparent) ?? cause.traceparent;
  const { tracing } = triggers;
  if (tracing === null) return startRun(triggers, tenantId, request, { ...cause, traceparent: parent });
  const attributes = { 'ductor.tenant_id': tenantId, 'ductor.workflow': request.familySlug };
  const span = tracing.begin('ductor.trigger', { parent, kind: 'server', attributes });
  try {
    const outcome = await startRun(triggers, tenantId, request, { ...cause, traceparent: span.traceparent });
    span.note({ 'ductor.run_id': outcome.runId, 'ductor.existing': outcome.existing });
    span.end();
    return outcome;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** Starts one run, notes what has to be noted. Throws what startRun throws. */
export async function start(
  triggers: Triggers,
  tenantId: string,
  request: TriggerRunRequest,
  cause: Cause,
): Promise<StartOutcome> {
  const outcome = await tracedStart(triggers, tenantId, request, cause);
  const { deed } = cause;
  const { runId, existing } = outcome;
  // An earlier run may have ended long ago: whoever waits for it must look.
  if (!existing) triggers.starts.add({ tenantId, runId });
  else triggers.trail.note({ ...deed, tenantId, objectKind: 'run', objectId: runId, outcome: 'existing' });
  return outcome;
}

/** TriggerRun: answers the run as it is right after its start. */
export function triggerRun(triggers: Triggers): Unary<TriggerRunRequest, TriggerRunResponse> {
  return async (request, principal, { traceparent }) => {
    const { tenantId } = principal;
    const { runId } = await start(triggers, tenantId, request, { deed: deedOf(principal, ONE.path), traceparent });
    return { data: await showRun(triggers, { tenantId, runId }) };
  };
}

/** Resolves at the end of the run or when the time is over. */
function endOf({ feed, clock }: Awaiting, key: RunKey, isKnown: boolean, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    let stop = (): void => undefined;
    const timer = clock.setTimer(waitMs, () => {
      stop();
      resolve();
    });
    stop = feed.awaitEnd(key, isKnown, () => {
      timer.cancel();
      resolve();
    });
  });
}

/** What waiting for ends needs. */
export interface Awaiting extends Triggers {
  readonly reader: Pick<RunReader, 'lastOfChain'>;
  readonly feed: Pick<RunFeed, 'awaitEnd'>;
  readonly clock: Clock;
}

/** TriggerAndWait: a long poll within bounds; the run goes on when it is over. */
export function triggerAndWait(awaiting: Awaiting): Unary<TriggerAndWaitRequest, TriggerAndWaitResponse> {
  return async ({ wait, ...request }, principal, { traceparent }) => {
    const waitMs = waitMsOf(wait);
    const { tenantId } = principal;
    const { runId, existing } = await start(awaiting, tenantId, TriggerRunRequest.fromPartial(request), {
      deed: deedOf(principal, WAITING.path),
      traceparent,
    });
    const key = { tenantId, runId };
    await endOf(awaiting, key, !existing, waitMs);
    const last = await lastRun(awaiting, key);
    const data = await showRun(awaiting, last ?? key);
    return { data, ended: data.closedAt !== undefined && data.continuedAs === '' };
  };
}

async function outcomeOf(
  triggers: Triggers,
  tenantId: string,
  item: TriggerRunRequest,
  cause: Cause,
): Promise<TriggerOutcome> {
  const { deed } = cause;
  try {
    const { runId, version, existing } = await start(triggers, tenantId, item, cause);
    return { runId, version, existing, error: undefined, problems: [], retryAfter: '' };
  } catch (caught) {
    const error = triggers.report(caught, deed.method);
    if (leavesRow(error)) {
      triggers.trail.note({ ...deed, tenantId, objectKind: 'run', objectId: item.familySlug, outcome: error.code });
    }
    const said = { error: wireFailure(error), problems: wireProblems(error), retryAfter: retryAfterText(error) };
    return { runId: '', version: 0, existing: false, ...said };
  }
}

/** Starts each item on its own; all that are fine share the coordinator's next commits. Never rejects. */
export function triggerAll(
  triggers: Triggers,
  tenantId: string,
  items: readonly TriggerRunRequest[],
  cause: Cause,
): Promise<TriggerOutcome[]> {
  return Promise.all(items.map((item) => outcomeOf(triggers, tenantId, item, cause)));
}

/** TriggerRuns. */
export function triggerRuns(triggers: Triggers): Unary<TriggerRunsRequest, TriggerRunsResponse> {
  return async ({ items }, principal, { traceparent }) => {
    const checks = new FieldChecks();
    checks.count('items', items.length, 1, MAX_ITEMS);
    checks.done();
    const cause = { deed: deedOf(principal, MANY.path), traceparent };
    return { data: await triggerAll(triggers, principal.tenantId, items, cause) };
  };
}
