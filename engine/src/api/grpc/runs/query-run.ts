/** QueryRun: what a run tells of itself, from its state. */
import type { QueryRunRequest, QueryRunResponse } from '../../../gen/ductor/v1/run.js';
import type { Unary } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import { answerQuery, queryReads, type PlanSource, type RunReader } from '../ports.js';
import { RUN_STATES } from '../wire/enums.js';
import { timestampOf } from '../wire/timestamp.js';
import { exactOf, jsonOf } from '../wire/value.js';
import type { RunLoader } from './run-loader.js';
import { runAndPlan } from './run-and-plan.js';
import { withOutputs } from './whole-values.js';

/** What it needs. */
export interface RunQueries {
  readonly load: RunLoader;
  readonly reader: Pick<RunReader, 'lastOfChain' | 'payloads'>;
  readonly plans: PlanSource;
}

/** QueryRun. */
export function queryRun(queries: RunQueries): Unary<QueryRunRequest, QueryRunResponse> {
  return async ({ runId, name }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.uuid('run_id', runId);
    checks.required('name', name);
    checks.done();
    const { state, plan } = await runAndPlan(queries, { tenantId, runId });
    const whole = await withOutputs(queries.reader, state, queryReads(plan, name));
    const value = answerQuery(plan, whole, name);
    const shown = { value: jsonOf(value), valueBytes: exactOf(value) };
    return { data: { runId: state.runId, ...shown, at: timestampOf(state.atUs), state: RUN_STATES[state.status] } };
  };
}
