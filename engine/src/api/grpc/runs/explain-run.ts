/** ExplainRun: the one reason an open run waits for, with what this node knows of the workers. */
import { RunReason, type ExplainRunRequest, type ExplainRunResponse } from '../../../gen/ductor/v1/run.js';
import type { RunExplanation } from '../../../gen/ductor/v1/run.js';
import type { Unary } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import {
  explainRun as reasonOf,
  HTTP_QUEUE,
  stepAt,
  type AttemptRef,
  type Plan,
  type PlanSource,
  type PlanStep,
} from '../ports.js';
import type { StepState, WaitReason } from '../ports.js';
import type { RunReader, RunState } from '../ports.js';
import { RUN_STATES } from '../wire/enums.js';
import { timestampOf } from '../wire/timestamp.js';
import { missingRun } from './read-runs.js';
import type { RunLoader } from './run-loader.js';

/** What this node knows of workers; every worker holds a stream to every node. */
export interface Workers {
  /** Who has the attempt, if it is known here. */
  workerOf(ref: AttemptRef): string | undefined;
  /** Streams of workers that could take such a task. */
  workersFor(
    tenantId: string,
    kind: {
      readonly queue: string;
      readonly familySlug: string;
      readonly handler: string;
      readonly version: number;
    },
  ): number;
}

/** What it needs. */
export interface ExplainRunOptions {
  readonly load: RunLoader;
  readonly plans: PlanSource;
  readonly workers: Workers;
  readonly reader: Pick<RunReader, 'waiting' | 'holding'>;
}

const REASONS: Readonly<Record<WaitReason['kind'], RunReason>> = {
  parked: RunReason.RUN_REASON_PARKED,
  paused: RunReason.RUN_REASON_PAUSED,
  stopping: RunReason.RUN_REASON_STOPPING,
  no_worker: RunReason.RUN_REASON_NO_FREE_WORKER,
  running: RunReason.RUN_REASON_RUNNING,
  retry_wait: RunReason.RUN_REASON_RETRY_WAIT,
  timer: RunReason.RUN_REASON_TIMER,
  body: RunReason.RUN_REASON_BODY,
  child: RunReason.RUN_REASON_CHILD,
  signal: RunReason.RUN_REASON_SIGNAL,
  approval: RunReason.RUN_REASON_APPROVAL,
  semaphore: RunReason.RUN_REASON_SEMAPHORE,
  claim: RunReason.RUN_REASON_CLAIM,
  queue: RunReason.RUN_REASON_QUEUE,
};

/** A worker by the id it chose; it stands behind its tenant's in the journal. */
function workerId(name: string | null): string {
  return name === null ? '' : name.slice(name.lastIndexOf('/') + 1);
}

function plannedStep(plan: Plan | undefined, path: string): PlanStep | undefined {
  return plan === undefined || path === '' ? undefined : stepAt(plan, path);
}

type Found = Pick<RunExplanation, 'reason' | 'message' | 'worker' | 'queue' | 'handler'>;

/** Why no worker has an attempt yet, or that one has it and it has not been noted. */
function withoutWorker(state: RunState, reason: WaitReason, plan: Plan | undefined, workers: Workers): Found {
  const { tenantId, runId, familySlug, version } = state;
  const step = plannedStep(plan, reason.step);
  const worker = workers.workerOf({ tenantId, runId, path: reason.step, attempt: reason.attempt });
  const place = step?.type === 'CALLBACK' ? { queue: step.queue, handler: step.handler } : { queue: '', handler: '' };
  if (worker !== undefined) {
    const message = `step ${reason.step} runs: attempt ${reason.attempt} on worker ${workerId(worker)}`;
    return { reason: RunReason.RUN_REASON_RUNNING, message, worker: workerId(worker), ...place };
  }
  if (place.queue === HTTP_QUEUE) {
    const message = `step ${reason.step} waits for its turn among the HTTP calls of this node, or its call just began`;
    return { reason: RunReason.RUN_REASON_NO_FREE_WORKER, message, worker: '', ...place };
  }
  const count = workers.workersFor(tenantId, { ...place, familySlug, version });
  const what = `handler ${place.handler} of ${familySlug} version ${version} on queue ${place.queue}`;
  const waits = `step ${reason.step} waits for a worker to take attempt ${reason.attempt}`;
  if (count === 0) {
    const message = `${waits}: no connected worker serves ${what}`;
    return { reason: RunReason.RUN_REASON_NO_HANDLER, message, worker: '', ...place };
  }
  const message = `${waits}: ${count} stream(s) of workers serve ${what}, none has taken it yet`;
  return { reason: RunReason.RUN_REASON_NO_FREE_WORKER, message, worker: '', ...place };
}

function foundOf(state: RunState, reason: WaitReason, plan: Plan | undefined, workers: Workers): Found {
  if (reason.kind === 'no_worker') return withoutWorker(state, reason, plan, workers);
  const step = plannedStep(plan, reason.step);
  const place = step?.type === 'CALLBACK' ? { queue: step.queue, handler: step.handler } : { queue: '', handler: '' };
  return { reason: REASONS[reason.kind], message: reason.message, worker: workerId(reason.worker), ...place };
}

/** The signal or decision that a step waits for. */
function awaitedOf(step: StepState | undefined): Pick<RunExplanation, 'signal' | 'assignees' | 'options'> {
  const approval = step?.awaits?.approval ?? null;
  return {
    signal: step?.awaits?.name ?? '',
    assignees: [...(approval?.assignees ?? [])],
    options: [...(approval?.options ?? [])],
  };
}

function explanationOf(state: RunState, plan: Plan | undefined, workers: Workers): RunExplanation {
  const common = { runId: state.runId, state: RUN_STATES[state.status] };
  const reason = reasonOf(state);
  if (reason === null) {
    const closed = { reason: RunReason.RUN_REASON_CLOSED, message: `the run has ended: ${state.status}` };
    const nothing = {
      step: '',
      attempt: 0,
      worker: '',
      queue: '',
      handler: '',
      childRunId: '',
      semaphores: [],
      holds: [],
    };
    const since = state.closedAtUs === null ? undefined : timestampOf(state.closedAtUs);
    return {
      ...{ ...common, ...closed, ...nothing, code: state.error?.code ?? '' },
      ...{ since, until: undefined, otherSteps: 0, ...awaitedOf(undefined) },
    };
  }
  const { step, attempt, code, sinceUs, untilUs, others: otherSteps } = reason;
  return {
    ...common,
    ...foundOf(state, reason, plan, workers),
    ...{ step, attempt, code, otherSteps },
    ...{ semaphores: [], holds: [] },
    childRunId: reason.kind === 'child' ? (state.steps.get(step)?.child?.runId ?? '') : '',
    ...awaitedOf(state.steps.get(step)),
    since: sinceUs === null ? undefined : timestampOf(sinceUs),
    until: untilUs === null ? undefined : timestampOf(untilUs),
  };
}

/** With who holds what is waited for, and the place in line. */
function withSemaphores(data: RunExplanation, waits: Awaited<ReturnType<RunReader['waiting']>>): RunExplanation {
  const words = waits.map(({ key, limit, held, place, holders }) => {
    const by = holders.map(({ runId, path }) => (path === '' ? `run ${runId}` : `step ${path} of run ${runId}`));
    const whom = by.length === 0 ? '' : `, held by ${by.join(', ')}${held > by.length ? ' and others' : ''}`;
    return `; ${JSON.stringify(key)} has ${held} of ${limit}${whom}; place ${place} in line`;
  });
  const semaphores = waits.map(({ key, limit, held, place, holders }) => ({
    ...{ key, limit, held, place },
    holders: holders.map(({ runId, path, sinceUs }) => ({ runId, step: path, since: timestampOf(sinceUs) })),
  }));
  return { ...data, message: `${data.message}${words.join('')}`, semaphores };
}

/** With what the chain of the run holds. */
function withHolds(data: RunExplanation, held: Awaited<ReturnType<RunReader['holding']>>): RunExplanation {
  const holds = held.map(({ path, sinceUs, ...rest }) => ({ ...rest, step: path, since: timestampOf(sinceUs) }));
  return { ...data, holds };
}

/** ExplainRun. */
export function explainRun({
  load,
  plans,
  workers,
  reader,
}: ExplainRunOptions): Unary<ExplainRunRequest, ExplainRunResponse> {
  return async ({ runId }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.uuid('run_id', runId);
    checks.done();
    const state = await load({ tenantId, runId });
    if (state === undefined) throw missingRun(runId);
    const { familySlug, version } = state;
    const plan = plans.peek(tenantId, familySlug, version) ?? (await plans.load(tenantId, familySlug, version));
    const told = explanationOf(state, plan, workers);
    const data = withHolds(told, await reader.holding(tenantId, state.chain?.chainId ?? runId));
    if (data.reason !== RunReason.RUN_REASON_SEMAPHORE) return { data };
    const wants = (data.step === '' ? state.gate : state.steps.get(data.step)?.gate)?.wants ?? [];
    return { data: withSemaphores(data, await reader.waiting({ tenantId, runId }, data.step, wants)) };
  };
}
