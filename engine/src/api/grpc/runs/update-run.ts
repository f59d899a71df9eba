/**
 * UpdateRun: what the run's version and state allow is checked here; what is sent goes through its mailbox, as a signal
 * does. Then the caller waits for the answer, which stands in the state of the run.
 */
import { DuctorError, uuidV7 } from '../../../kernel/index.js';
import {
  RunServiceService as R,
  UpdateState,
  type RunUpdate,
  type UpdateRunRequest,
  type UpdateRunResponse,
} from '../../../gen/ductor/v1/run.js';
import { actorText, deedOf, type Deed } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import { requestValue } from '../checks/request-value.js';
import {
  admitUpdate,
  answerIn,
  hasReceived,
  isClosed,
  plannedUpdate,
  type RunKey,
  type RunReader,
  type RunState,
  type Signal,
  type UpdateAnswer,
} from '../ports.js';
import { failureOf } from '../wire/run.js';
import { exactOf, jsonOf } from '../wire/value.js';
import { runAndPlan } from './run-and-plan.js';
import type { RunFeed } from './run-feed.js';
import type { RunSignals } from './signal-run.js';
import { waitMsOf } from './wait-time.js';
import { readPayloads, wholeValue, withOutputs } from './whole-values.js';

/** What it needs. */
export interface RunUpdates extends Omit<RunSignals, 'reader'> {
  readonly reader: Pick<RunReader, 'lastOfChain' | 'payloads'>;
  readonly feed: Pick<RunFeed, 'watch'>;
}

const INPUT = { json: 'input', bytes: 'input_bytes' };

function check({ runId, name, updateId }: UpdateRunRequest): void {
  const checks = new FieldChecks();
  checks.uuid('run_id', runId);
  checks.required('name', name);
  checks.text('update_id', updateId, MAX_IDENTIFIER_CHARS);
  checks.done();
}

/** Sends an update that the run has not received yet. Throws what admitUpdate and the coordinator throw. */
async function send(updates: RunUpdates, key: RunKey, update: Signal, deed: Deed): Promise<void> {
  const { state, plan } = await runAndPlan(updates, key);
  const reads = plannedUpdate(plan, update.name).refusal?.reads ?? [];
  const whole = await withOutputs(updates.reader, state, reads);
  if (admitUpdate(plan, whole, update) === 'new') await updates.coordinator.signal(key, update, deed);
}

/** Whether the run still has the update, answered or not. */
function isKept({ signals, steps }: RunState, { name, id }: Signal): boolean {
  if (signals?.waiting.some((one) => one.name === name && one.id === id)) return true;
  return [...steps.values()].some(({ taken }) => taken?.name === name && taken.id === id);
}

/** Throws when there will be no answer any more. */
function checkAnswerable(state: RunState, update: Signal): void {
  const { name, id } = update;
  if (isClosed(state)) {
    const message = `run ${state.runId} ended ${state.status} before it answered update ${name} ${id}`;
    throw new DuctorError('run_closed', message);
  }
  if (!hasReceived(state, update) || isKept(state, update)) return;
  const remedy = 'Answers are kept for the last 100 updates of a run; use a new update_id to ask anew.';
  throw new DuctorError('not_found', `run ${state.runId} keeps the answer to update ${name} ${id} no more`, { remedy });
}

/** Resolves when the run may have changed, or the time is over. */
function change({ feed, clock }: RunUpdates, key: RunKey, waitMs: number) {
  let stop = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    const stopWatching = feed.watch(key, resolve);
    const timer = clock.setTimer(waitMs, resolve);
    stop = () => {
      timer.cancel();
      stopWatching();
    };
  });
  return { promise, stop };
}

/** The answer, and the run that has it; null: there is none within the time. */
async function answered(
  updates: RunUpdates,
  first: RunKey,
  update: Signal,
  waitMs: number,
): Promise<{ readonly state: RunState; readonly answer: UpdateAnswer | null }> {
  const untilMs = updates.clock.monotonicMs() + waitMs;
  for (let key = first; ;) {
    const leftMs = untilMs - updates.clock.monotonicMs();
    // Before the look, so that no change falls between the two.
    const next = change(updates, key, Math.max(0, leftMs));
    try {
      const { state } = await runAndPlan(updates, key);
      const answer = answerIn(state.signals, update.name, update.id);
      if (answer !== undefined) return { state, answer };
      checkAnswerable(state, update);
      if (leftMs <= 0) return { state, answer: null };
      if (state.runId === key.runId) await next.promise;
      key = { tenantId: key.tenantId, runId: state.runId };
    } finally {
      next.stop();
    }
  }
}

async function shown(
  { reader }: RunUpdates,
  state: RunState,
  { name, id: updateId }: Signal,
  answer: UpdateAnswer | null,
): Promise<RunUpdate> {
  const common = { runId: state.runId, name, updateId, output: undefined, outputBytes: undefined, error: undefined };
  if (answer === null) return { ...common, state: UpdateState.UPDATE_STATE_ACCEPTED };
  const { output, error } = answer;
  if (error?.code === 'update_refused') throw new DuctorError('update_refused', error.message);
  if (output === null) {
    return { ...common, state: UpdateState.UPDATE_STATE_FAILED, error: error === null ? undefined : failureOf(error) };
  }
  const value = wholeValue(
    output,
    await readPayloads(reader, state, output.absent === undefined ? [] : [output.absent]),
  );
  const values = { output: jsonOf(value), outputBytes: exactOf(value) };
  return { ...common, state: UpdateState.UPDATE_STATE_COMPLETED, ...values };
}

/** UpdateRun. */
export function updateRun(updates: RunUpdates): Unary<UpdateRunRequest, UpdateRunResponse> {
  const { clock, random } = updates;
  return async (request, principal) => {
    check(request);
    const { runId, name, input, inputBytes, updateId } = request;
    const waitMs = waitMsOf(request.wait);
    const payload = requestValue(input, inputBytes, INPUT).value;
    const id = updateId || uuidV7(clock.nowUs(), random);
    const update = { name, id, payload, by: actorText(principal) };
    const key = { tenantId: principal.tenantId, runId };
    await send(updates, key, update, deedOf(principal, R.updateRun.path, name));
    const { state, answer } = await answered(updates, key, update, waitMs);
    return { data: await shown(updates, state, update, answer) };
  };
}
