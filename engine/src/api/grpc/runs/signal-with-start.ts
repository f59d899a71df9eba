/**
 * SignalWithStart. The start is tried first: whoever gets the run key has a run that begins with the signal in its box.
 * Else the open run is signalled; one that ended meanwhile has freed the key, and the start is tried again.
 */
import { DuctorError, uuidV7 } from '../../../kernel/index.js';
import {
  RunKeyConflict,
  RunServiceService as R,
  type SignalWithStartRequest,
  type SignalWithStartResponse,
  TriggerRunRequest,
} from '../../../gen/ductor/v1/run.js';
import { deedOf, type Principal } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import { admitFirstSignal, type RunKey, type Signal } from '../ports.js';
import { lastRun, showRun } from './read-runs.js';
import { sendSignal, signalOf, type RunSignals } from './signal-run.js';
import type { Cause } from './start-run.js';
import { start, type Triggers } from './trigger-runs.js';

/** What it needs. */
export interface SignalStarts {
  readonly triggers: Triggers;
  readonly signals: RunSignals;
}

/** Runs that may end under it, one after the other, before it gives up. */
const TRIES = 20;

function checkStart({ start: item }: SignalWithStartRequest, checks: FieldChecks): void {
  checks.required('start.run_key', item?.runKey ?? '');
  if (item?.onOpen === RunKeyConflict.RUN_KEY_CONFLICT_REFUSE) {
    checks.note('start.on_open', '', 'refuses the run that is to be signalled', 'leave it out');
  }
}

/** Signals the open run; false when it has ended. */
async function signalled(signals: RunSignals, key: RunKey, signal: Signal, principal: Principal): Promise<boolean> {
  try {
    await sendSignal(signals, key, signal, deedOf(principal, R.signalWithStart.path, signal.name));
    return true;
  } catch (error) {
    if (DuctorError.from(error).code === 'run_closed') return false;
    throw error;
  }
}

/** SignalWithStart. */
export function signalWithStart(starts: SignalStarts): Unary<SignalWithStartRequest, SignalWithStartResponse> {
  const { triggers, signals } = starts;
  return async (request, principal, { traceparent }) => {
    const checks = new FieldChecks();
    checkStart(request, checks);
    const draw = (): string => uuidV7(signals.clock.nowUs(), signals.random);
    const signal = signalOf({ ...request, decision: undefined }, principal, draw, checks);
    const { tenantId } = principal;
    const { familySlug = '', version = 0 } = request.start ?? {};
    const pinned = version || (await triggers.catalog.currentVersion(tenantId, familySlug));
    const plan = await signals.plans.load(tenantId, familySlug, pinned);
    if (plan === undefined) {
      throw new DuctorError('workflow_not_published', `${familySlug} has no published version ${pinned}`);
    }
    admitFirstSignal(plan, signal);
    const cause: Cause = { deed: deedOf(principal, R.signalWithStart.path), traceparent, signal };
    for (let tries = 0; tries < TRIES; tries += 1) {
      const item = TriggerRunRequest.fromPartial({ ...request.start, version: pinned });
      const { runId, existing } = await start(triggers, tenantId, item, cause);
      const key = { tenantId, runId };
      if (existing && !(await signalled(signals, key, signal, principal))) continue;
      // Of a chain that went on, its last run.
      return { data: await showRun(signals, (await lastRun(signals, key)) ?? key), started: !existing };
    }
    throw new DuctorError('limit_exceeded', `runs of ${familySlug} with this key end as fast as they are found`);
  };
}
