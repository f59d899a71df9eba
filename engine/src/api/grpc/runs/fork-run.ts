/** ForkRun: a new run that takes over what another one came to, up to a step; a dry run says what would be. */
import { canonicalDigest, DuctorError } from '../../../kernel/index.js';
import {
  RunServiceService as R,
  StepState as WireStepState,
  type ForkedStep,
  type ForkRunRequest,
  type ForkRunResponse,
} from '../../../gen/ductor/v1/run.js';
import { deedOf } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS, MAX_REASON_CHARS } from '../checks/field-checks.js';
import {
  OWN_KEYS,
  planFork,
  type Coordinator,
  type ForkPlan,
  type KeptStep,
  type Plan,
  type PlanSource,
  type RunReader,
  type RunState,
  type WorkflowCatalog,
} from '../ports.js';
import { changeOf } from '../workflows/compare-service.js';
import { STEP_STATES } from '../wire/enums.js';
import { missingRun, showRun } from './read-runs.js';
import type { RecentStarts } from './recent-starts.js';
import type { RunLoader } from './run-loader.js';
import { readPayloads, wholeValue } from './whole-values.js';

/** What it needs. */
export interface Forks {
  readonly load: RunLoader;
  readonly reader: Pick<RunReader, 'payloads'>;
  readonly plans: PlanSource;
  readonly catalog: Pick<WorkflowCatalog, 'diff'>;
  readonly coordinator: Pick<Coordinator, 'start'>;
  readonly starts: RecentStarts;
}

function check({ runId, from, idempotencyKey, reason }: ForkRunRequest): void {
  const checks = new FieldChecks();
  checks.uuid('run_id', runId);
  checks.required('from', from);
  checks.text('idempotency_key', idempotencyKey, MAX_IDENTIFIER_CHARS);
  if (idempotencyKey.startsWith(OWN_KEYS)) {
    checks.note('idempotency_key', idempotencyKey, `begins with ${OWN_KEYS}`, 'begin it with something else');
  }
  checks.text('reason', reason, MAX_REASON_CHARS);
  checks.done();
}

/** The plan that a fork executes. Throws not_found. */
export async function planOfFork(
  { plans }: Pick<Forks, 'plans'>,
  { tenantId, familySlug }: RunState,
  version: number,
): Promise<Plan> {
  const plan = plans.peek(tenantId, familySlug, version) ?? (await plans.load(tenantId, familySlug, version));
  if (plan !== undefined) return plan;
  const remedy = `ListWorkflowVersions, or \`ductor workflow show ${familySlug}\`, tells which there are.`;
  throw new DuctorError('not_found', `${familySlug} has no version ${version}`, { remedy });
}

/** Throws invalid_argument when the plan has no such step, or it cannot be forked from. */
export function checkFrom(plan: Plan, from: string): void {
  const refs = plan.steps.flatMap(({ ref, compensates }) => (compensates === null ? ref : []));
  if (refs.includes(from)) return;
  const checks = new FieldChecks();
  const of = `${plan.familySlug} version ${plan.version}`;
  checks.note('from', from, `is no step of ${of} outside of bodies`, `name one of ${refs.slice(0, 50).join(', ')}`);
  checks.done();
}

/** The kept steps with their large values. */
export async function wholeSteps(
  { reader }: Pick<Forks, 'reader'>,
  state: RunState,
  kept: readonly KeptStep[],
): Promise<readonly KeptStep[]> {
  const refs = kept.flatMap(({ end }) => (end.status === 'COMPLETED' ? (end.output.absent ?? []) : []));
  const payloads = await readPayloads(reader, state, refs);
  return kept.map((step) => {
    const { end } = step;
    return end.status === 'COMPLETED' ? { ...step, end: { ...end, output: wholeValue(end.output, payloads) } } : step;
  });
}

function shownSteps(plan: Plan, state: RunState, { kept, again }: ForkPlan): ForkedStep[] {
  const keeps = new Set(kept.map(({ path }) => path));
  return plan.steps.flatMap(({ ref }) => {
    if (!keeps.has(ref) && !again.includes(ref)) return [];
    const status = state.steps.get(ref)?.status;
    const shown = status === undefined ? WireStepState.STEP_STATE_PENDING : STEP_STATES[status];
    return [{ ref, kept: keeps.has(ref), state: shown }];
  });
}

/** ForkRun. */
export function forkRun(forks: Forks): Unary<ForkRunRequest, ForkRunResponse> {
  return async (request, principal) => {
    check(request);
    const { runId, from, idempotencyKey, dryRun, reason } = request;
    const { tenantId } = principal;
    const state = await forks.load({ tenantId, runId });
    if (state === undefined) throw missingRun(runId);
    const { familySlug, input, attributes } = state;
    const version = request.version || state.version;
    const plan = await planOfFork(forks, state, version);
    checkFrom(plan, from);
    const fork = planFork(plan, state, from);
    const isOther = version !== state.version;
    const diff = isOther ? await forks.catalog.diff(tenantId, familySlug, state.version, version) : undefined;
    const changes = (diff?.changes ?? []).map(changeOf);
    const steps = shownSteps(plan, state, fork);
    if (dryRun) return { data: undefined, steps, changes };
    const kept = await wholeSteps(forks, state, fork.kept);
    const fingerprint = canonicalDigest({ fork: runId, from, version });
    const outcome = await forks.coordinator.start({
      ...{ tenantId, familySlug, version, input, attributes, fork: { runId, from, kept } },
      by: deedOf(principal, R.forkRun.path, reason),
      startKey: idempotencyKey === '' ? null : { key: idempotencyKey, fingerprint },
    });
    const key = { tenantId, runId: outcome.runId };
    if (!outcome.existing) forks.starts.add(key);
    return { data: await showRun(forks, key), steps, changes };
  };
}
