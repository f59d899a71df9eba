/** TriggerRun and TriggerRuns. */
import type {
  TriggerOutcome,
  TriggerRunRequest,
  TriggerRunResponse,
  TriggerRunsRequest,
  TriggerRunsResponse,
} from '../../../gen/ductor/v1/run.js';
import type { Unary } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import type { Report } from '../errors/report.js';
import { wireFailure, wireProblems } from '../errors/wire-error.js';
import type { StartOutcome } from '../ports.js';
import { showRun, type RunReads } from './read-runs.js';
import type { RecentStarts } from './recent-starts.js';
import { startRun, type Starter } from './start-run.js';

/** What they need. */
export interface Triggers extends Starter, Pick<RunReads, 'load' | 'plans'> {
  readonly starts: RecentStarts;
  readonly report: Report;
}

const MAX_ITEMS = 1_000;
const BATCH_METHOD = '/ductor.v1.RunService/TriggerRuns';

async function start(triggers: Triggers, tenantId: string, request: TriggerRunRequest): Promise<StartOutcome> {
  const outcome = await startRun(triggers, tenantId, request);
  // An earlier run may have ended long ago: whoever waits for it must look.
  if (!outcome.existing) triggers.starts.add({ tenantId, runId: outcome.runId });
  return outcome;
}

/** TriggerRun: answers the run as it is right after its start. */
export function triggerRun(triggers: Triggers): Unary<TriggerRunRequest, TriggerRunResponse> {
  return async (request, { tenantId }) => {
    const { runId } = await start(triggers, tenantId, request);
    return { data: await showRun(triggers, { tenantId, runId }) };
  };
}

async function outcomeOf(triggers: Triggers, tenantId: string, item: TriggerRunRequest): Promise<TriggerOutcome> {
  try {
    const { runId, version, existing } = await start(triggers, tenantId, item);
    return { runId, version, existing, error: undefined, problems: [] };
  } catch (caught) {
    const error = triggers.report(caught, BATCH_METHOD);
    return { runId: '', version: 0, existing: false, error: wireFailure(error), problems: wireProblems(error) };
  }
}

/** TriggerRuns: each item on its own; all that are fine share the coordinator's next commits. */
export function triggerRuns(triggers: Triggers): Unary<TriggerRunsRequest, TriggerRunsResponse> {
  return async ({ items }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.count('items', items.length, 1, MAX_ITEMS);
    checks.done();
    return { data: await Promise.all(items.map((item) => outcomeOf(triggers, tenantId, item))) };
  };
}
