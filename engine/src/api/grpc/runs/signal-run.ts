/** SignalRun: what the run's version and state allow is checked here; what is sent then goes through its mailbox. */
import { uuidV7, type Clock, type Random } from '../../../kernel/index.js';
import {
  RunServiceService as R,
  type Decision,
  type SignalRunRequest,
  type SignalRunResponse,
} from '../../../gen/ductor/v1/run.js';
import { actorText, deedOf, type Deed, type Principal } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import { requestValue } from '../checks/request-value.js';
import {
  admitSignal,
  decisionPayload,
  type Coordinator,
  type PlanSource,
  type RunKey,
  type RunReader,
  type Signal,
  type Value,
} from '../ports.js';
import { showRun } from './read-runs.js';
import { runAndPlan } from './run-and-plan.js';
import type { RunLoader } from './run-loader.js';

/** What it needs. */
export interface RunSignals {
  readonly load: RunLoader;
  readonly reader: Pick<RunReader, 'lastOfChain'>;
  readonly plans: PlanSource;
  readonly coordinator: Pick<Coordinator, 'signal'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** The fields of a request that say a signal. */
export type SignalFields = Pick<SignalRunRequest, 'name' | 'payload' | 'payloadBytes' | 'signalId' | 'decision'>;

const MAX_COMMENT_CHARS = 4_096;
const MAX_BY_CHARS = 256;

function checkFields({ name, signalId, decision, payload, payloadBytes }: SignalFields, checks: FieldChecks): void {
  checks.required('name', name);
  checks.text('signal_id', signalId, MAX_IDENTIFIER_CHARS);
  if (decision === undefined) return;
  if (payload !== undefined) checks.note('decision', '', 'stands beside payload', 'send one of them');
  if (payloadBytes !== undefined) checks.note('decision', '', 'stands beside payload_bytes', 'send one of them');
  checks.required('decision.option', decision.option);
  checks.text('decision.by', decision.by, MAX_BY_CHARS);
  checks.text('decision.comment', decision.comment, MAX_COMMENT_CHARS);
}

const PAYLOAD = { json: 'payload', bytes: 'payload_bytes' };
const FORM = { json: 'decision.form', bytes: 'decision.form_bytes' };

function decisionValue({ option, comment, form, formBytes }: Decision): Value {
  return decisionPayload({ option, comment, form: requestValue(form, formBytes, FORM).value });
}

/**
 * The signal that a request says. Throws invalid_argument, value_too_large.
 *
 * @param draw an id for a signal whose sender gave it none
 */
export function signalOf(request: SignalFields, principal: Principal, draw: () => string, checks: FieldChecks): Signal {
  checkFields(request, checks);
  checks.done();
  const { name, payload, payloadBytes, signalId, decision } = request;
  const by = decision?.by || actorText(principal);
  const value = decision === undefined ? requestValue(payload, payloadBytes, PAYLOAD).value : decisionValue(decision);
  return { name, id: signalId || draw(), payload: value, by };
}

/**
 * Sends a signal to a run that is to hear it, as the deed of a caller.
 *
 * @throws DuctorError not_found, and what admitSignal and the coordinator throw
 */
export async function sendSignal(signals: RunSignals, key: RunKey, signal: Signal, deed: Deed): Promise<void> {
  const { state, plan } = await runAndPlan(signals, key);
  if (admitSignal(plan, state, signal) === 'new') await signals.coordinator.signal(key, signal, deed);
}

/** SignalRun. */
export function signalRun(signals: RunSignals): Unary<SignalRunRequest, SignalRunResponse> {
  const { clock, random } = signals;
  return async (request, principal) => {
    const checks = new FieldChecks();
    checks.uuid('run_id', request.runId);
    const signal = signalOf(request, principal, () => uuidV7(clock.nowUs(), random), checks);
    const key = { tenantId: principal.tenantId, runId: request.runId };
    await sendSignal(signals, key, signal, deedOf(principal, R.signalRun.path, signal.name));
    return { data: await showRun(signals, key) };
  };
}
